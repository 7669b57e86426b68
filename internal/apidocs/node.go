package apidocs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// JSON returns a YAML document as JSON, its members in the order in which they
// are written.
func JSON(document []byte) ([]byte, error) {
	root, err := parse(document)
	if err != nil {
		return nil, err
	}
	return root.json()
}

// node is a node of the document. A nil node stands for an absent one; it has no members
// and no text.
type node struct {
	*yaml.Node
	root *yaml.Node
}

// parse returns the root of the document.
func parse(document []byte) (node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(document, &doc); err != nil {
		return node{}, fmt.Errorf("parse the OpenAPI document: %w", err)
	}
	if len(doc.Content) == 0 {
		return node{}, errors.New("parse the OpenAPI document: it is empty")
	}
	root := doc.Content[0]
	return node{root, root}, nil
}

func (n node) exists() bool { return n.Node != nil }

// own returns the member of n with that name, without following a reference.
func (n node) own(name string) node {
	if n.Node != nil && n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return node{n.Content[i+1], n.root}
			}
		}
	}
	return node{nil, n.root}
}

// at returns the member at the path names. If n is a reference, members next to the
// reference override those of its target.
func (n node) at(names ...string) node {
	for _, name := range names {
		next := n.own(name)
		for target := n; !next.exists() && target.ref() != ""; {
			target = target.follow()
			next = target.own(name)
		}
		n = next
	}
	return n
}

// ref returns the reference in n, or "".
func (n node) ref() string { return n.own("$ref").text() }

// follow returns the target of the reference, which is in the same document.
func (n node) follow() node {
	target := node{n.root, n.root}
	for _, part := range pointerParts(n.ref()) {
		target = target.own(part)
	}
	return target
}

// text is the value of a scalar as it is written, or "".
func (n node) text() string {
	if n.Node == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// items are the members of a sequence.
func (n node) items() []node {
	if n.Node == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	list := make([]node, len(n.Content))
	for i, c := range n.Content {
		list[i] = node{c, n.root}
	}
	return list
}

// member is one name of a mapping with its value.
type member struct {
	name  string
	value node
}

// members are those of a mapping, in the order in which they are written.
func (n node) members() []member {
	if n.Node == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	list := make([]member, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		list = append(list, member{n.Content[i].Value, node{n.Content[i+1], n.root}})
	}
	return list
}

// json returns n as JSON.
func (n node) json() ([]byte, error) {
	var buf bytes.Buffer
	if err := writeJSON(&buf, n.Node); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// writeJSON writes the nodes directly, because maps would sort the members.
func writeJSON(buf *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		buf.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				buf.WriteByte(',')
			}
			if err := writeString(buf, n.Content[i].Value); err != nil {
				return err
			}
			buf.WriteByte(':')
			if err := writeJSON(buf, n.Content[i+1]); err != nil {
				return err
			}
		}
		buf.WriteByte('}')
	case yaml.SequenceNode:
		buf.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				buf.WriteByte(',')
			}
			if err := writeJSON(buf, item); err != nil {
				return err
			}
		}
		buf.WriteByte(']')
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null", "!!bool", "!!int", "!!float":
			var v any
			if err := n.Decode(&v); err != nil {
				return err
			}
			out, err := json.Marshal(v)
			if err != nil {
				return err
			}
			buf.Write(out)
		default: // dates and times are strings in JSON
			return writeString(buf, n.Value)
		}
	default:
		return fmt.Errorf("line %d: anchors and aliases are not used here", n.Line)
	}
	return nil
}

// writeString writes s as JSON without HTML escapes.
func writeString(buf *bytes.Buffer, s string) error {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1) // the newline of Encode
	return nil
}

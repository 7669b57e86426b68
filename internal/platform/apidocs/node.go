package apidocs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// JSON converts a YAML document to JSON and keeps the order of the members.
func JSON(document []byte) ([]byte, error) {
	root, err := parse(document)
	if err != nil {
		return nil, err
	}
	return root.compact()
}

// compact returns n as JSON without spaces.
func (n node) compact() ([]byte, error) {
	var buf, out bytes.Buffer
	if err := writeJSON(&buf, n.Node); err != nil {
		return nil, err
	}
	err := json.Compact(&out, buf.Bytes())
	return out.Bytes(), err
}

// node is a node of the document. An absent node has no members and no Value.
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
	return node{doc.Content[0], doc.Content[0]}, nil
}

func (n node) exists() bool { return n.Kind != 0 }

// at returns the member at the path names. If n is a reference, members next to the
// reference override the members of its target.
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

// own returns the member of n with that name, without following a reference.
func (n node) own(name string) node {
	for key, value := range n.members() {
		if key == name {
			return value
		}
	}
	return node{new(yaml.Node), n.root}
}

// ref returns the reference in n, or "".
func (n node) ref() string { return n.own("$ref").Value }

// follow returns the target of the reference, which is in the same document.
func (n node) follow() node {
	target := node{n.root, n.root}
	for name := range strings.SplitSeq(strings.TrimPrefix(n.ref(), "#/"), "/") {
		target = target.own(name)
	}
	return target
}

// items returns the members of a sequence.
func (n node) items() []node {
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	list := make([]node, len(n.Content))
	for i, c := range n.Content {
		list[i] = node{c, n.root}
	}
	return list
}

// members iterates over the members of a mapping in the order of the document.
func (n node) members() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for pair := range slices.Chunk(n.Content, 2) {
			if !yield(pair[0].Value, node{pair[1], n.root}) {
				return
			}
		}
	}
}

// writeJSON writes n with its members in the order of the document; maps would sort them.
func writeJSON(buf *bytes.Buffer, n *yaml.Node) error {
	brackets, separators := "[]", ","
	switch n.Kind {
	case yaml.SequenceNode:
	case yaml.MappingNode:
		brackets, separators = "{}", ",:" // Content alternates names and values
	case yaml.ScalarNode:
		var v any = n.Value // dates and times are strings in JSON
		if slices.Contains([]string{"!!null", "!!bool", "!!int", "!!float"}, n.Tag) {
			if err := n.Decode(&v); err != nil {
				return err
			}
		}
		enc := json.NewEncoder(buf)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	default:
		return fmt.Errorf("line %d: anchors and aliases are not supported", n.Line)
	}
	buf.WriteByte(brackets[0])
	for i, child := range n.Content {
		if i > 0 {
			buf.WriteByte(separators[i%len(separators)])
		}
		if err := writeJSON(buf, child); err != nil {
			return err
		}
	}
	buf.WriteByte(brackets[1])
	return nil
}

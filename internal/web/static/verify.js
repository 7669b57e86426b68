// Verifies a receipt (C2SP tlog-proof) in the browser. Nothing is sent anywhere.
(() => {
  const form = document.getElementById("verify");
  const result = document.getElementById("verify-result");
  if (!form || !result) return;
  const text = (name) => document.querySelector(`[data-text="${CSS.escape(name)}"]`)?.textContent || name;
  const utf8 = new TextEncoder();
  const fail = (name) => { throw new Error(text(name)); };

  const decode = (base64, url) => {
    const standard = url ? base64.replaceAll("-", "+").replaceAll("_", "/") + "=".repeat((4 - base64.length % 4) % 4) : base64;
    const bytes = Uint8Array.from(atob(standard), (c) => c.charCodeAt(0));
    if (btoa(String.fromCharCode(...bytes)) !== standard) throw new Error("base64");
    return bytes;
  };
  const hash = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer()));
  const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

  // key is <name>+<hash>+<base64>; the first byte is the algorithm, 1 for Ed25519.
  const readKey = (key) => {
    const [, name, id, base64] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(key.trim()) || fail("badKey");
    const bytes = decode(base64);
    if (bytes.length !== 33 || bytes[0] !== 1) fail("badKey");
    return { name, id, bytes: bytes.slice(1) };
  };

  const parse = (receipt) => {
    const cut = receipt.indexOf("\n\n");
    const [header, extra, index, ...proof] = receipt.slice(0, cut).split("\n");
    if (cut < 0 || header !== "c2sp.org/tlog-proof@v1" || !extra?.startsWith("extra ") || !/^index (0|[1-9][0-9]*)$/.test(index)) fail("notReceipt");
    const [body, ...disclosures] = new TextDecoder().decode(decode(extra.slice(6))).split("~");
    if (disclosures.pop() !== "") fail("notReceipt");
    return { body: decode(body, true), disclosures, index: Number(index.slice(6)), proof: proof.map((h) => decode(h)), checkpoint: receipt.slice(cut + 2) };
  };

  // checkpoint checks the signature of a signed note, and returns the size and hash of the tree.
  const checkpoint = async (note, key) => {
    const end = note.lastIndexOf("\n\n");
    const signed = note.slice(0, end + 1);
    const [name, size, root] = signed.split("\n");
    if (end < 0 || name !== key.name || !/^[1-9][0-9]*$/.test(size)) fail("otherLog");
    const verifier = await crypto.subtle.importKey("raw", key.bytes, "Ed25519", false, ["verify"]);
    for (const line of note.slice(end + 2).split("\n")) {
      const [, signer, base64] = /^— (\S+) (\S+)$/.exec(line) || [];
      if (signer !== key.name) continue;
      const bytes = decode(base64);
      const id = [...bytes.slice(0, 4)].map((b) => b.toString(16).padStart(2, "0")).join("");
      if (id === key.id && await crypto.subtle.verify("Ed25519", verifier, bytes.slice(4), utf8.encode(signed))) return { size: Number(size), root: decode(root) };
    }
    return fail("badSignature");
  };

  // rootOf computes the hash of the tree from a leaf and its proof (RFC 9162, section 2.1.3.2).
  const rootOf = async (leaf, index, size, proof) => {
    let at = index, last = size - 1, node = leaf;
    for (const h of proof) {
      if (last === 0) fail("notInLog");
      if (at % 2 === 1 || at === last) {
        node = await hash(Uint8Array.of(1), h, node);
        while (at % 2 === 0 && at !== 0) { at /= 2; last = Math.floor(last / 2); }
      } else {
        node = await hash(Uint8Array.of(1), node, h);
      }
      at = Math.floor(at / 2);
      last = Math.floor(last / 2);
    }
    return last === 0 ? node : fail("notInLog");
  };

  const verify = async (receipt, key) => {
    const r = parse(receipt);
    const c = await checkpoint(r.checkpoint, key);
    const leaf = await hash(Uint8Array.of(0), await hash(r.body));
    if (r.index >= c.size || !same(await rootOf(leaf, r.index, c.size, r.proof), c.root)) fail("notInLog");
    const body = JSON.parse(new TextDecoder().decode(r.body));
    if (body.schema_version !== "touchline-consent/1") fail("notReceipt");
    const claims = {};
    for (const d of r.disclosures) {
      const digest = btoa(String.fromCharCode(...await hash(utf8.encode(d)))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
      if (!body._sd.includes(digest)) fail("badValue");
      const [, name, value] = JSON.parse(new TextDecoder().decode(decode(d, true)));
      claims[name] = value;
    }
    return { body, claims, index: r.index, size: c.size };
  };

  const show = (genuine, heading, rows) => {
    result.replaceChildren();
    result.className = genuine ? "notice" : "notice problem";
    const title = document.createElement("h2");
    title.textContent = heading;
    const list = document.createElement("dl");
    for (const [name, value] of rows) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = value;
      list.append(dt, dd);
    }
    result.append(title, ...(rows.length ? [list] : []));
    document.getElementById("verify-not").hidden = !genuine;
    result.hidden = false;
    result.focus();
  };

  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const file = form.elements.receipt.files[0];
    try {
      if (!file) fail("noFile");
      const key = readKey(form.elements.key.value);
      let v;
      try { v = await verify(await file.text(), key); } catch (err) {
        if (err.name === "NotSupportedError") fail("oldBrowser");
        throw err instanceof DOMException || err instanceof SyntaxError || err.message === "base64" ? new Error(text("notReceipt")) : err;
      }
      const { body, claims } = v;
      show(true, text("genuine"), [
        [text("what"), text("event." + body.event_type)], [text("when"), body.event_time.replace("T", " ").replace("Z", " UTC")],
        [text("number"), claims.party_phone], [text("coach"), claims.coach_name], [text("student"), [claims.student_name, claims.student_birth_date].filter(Boolean).join(", ")],
        [text("proved"), body.authentication ? text("method." + body.authentication.method) : ""], [text("reason"), claims.reason], [text("shown"), [claims.shown_coach_name, claims.shown_student_name, claims.shown?.batch].filter(Boolean).join(", ")], [text("adult"), claims.proof ? `${claims.proof.provider} (${claims.proof.method}), ${claims.proof.at}` : ""], [text("hash"), body.text_hash],
        [text("record"), `${v.index} / ${v.size}`],
      ].filter(([, value]) => value));
    } catch (err) {
      show(false, text("wrong"), [[text("why"), err.message]]);
    }
  });
})();

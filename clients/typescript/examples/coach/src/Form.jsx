import { TouchlineError } from "@touchline/client";
import { useState } from "react";

/** A form that waits for its call and shows why it failed. `submit` gets the fields by name, `after` is below the button. */
export function Form({ title, button, submit, after, children }) {
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  async function onSubmit(event) {
    event.preventDefault();
    setBusy(true);
    setFault("");
    try {
      await submit(Object.fromEntries(new FormData(event.target)));
    } catch (error) {
      setFault(error instanceof TouchlineError ? error.problem.detail : "No connection. Try again.");
    } finally {
      setBusy(false);
    }
  }
  return (
    <main>
      <h1>{title}</h1>
      <form onSubmit={onSubmit}>
        {children}
        {fault && <p role="alert" className="fault">{fault}</p>}
        <button disabled={busy}>{button}</button>
        {after}
      </form>
    </main>
  );
}

/** One field with its label. */
export function Field({ label, ...input }) {
  return (
    <label>
      {label}
      <input required {...input} />
    </label>
  );
}

import { useState } from "react";

import { Field, Form } from "./Form.jsx";

/** Asks for the number, then for the code. */
export function SignIn({ touchline, onSignedIn }) {
  const [number, setNumber] = useState("");
  if (!number) {
    return (
      <Form
        key="number"
        title="Sign in as a coach"
        button="Send me a code"
        submit={async ({ mobile_number }) => {
          await touchline.session.requestOtp({ mobile_number, role: "coach" });
          setNumber(mobile_number);
        }}
      >
        <Field label="Mobile number" name="mobile_number" type="tel" autoComplete="tel" />
      </Form>
    );
  }
  return (
    <Form
      key="code"
      title="Enter the code"
      button="Sign in"
      submit={async ({ otp }) => {
        const { next } = await touchline.session.signIn({ mobile_number: number, role: "coach", otp });
        onSignedIn(next);
      }}
      after={<button type="button" className="plain" onClick={() => setNumber("")}>Use another number</button>}
    >
      <p>We sent a code to {number}.</p>
      <Field label="Code" name="otp" inputMode="numeric" autoComplete="one-time-code" autoFocus />
    </Form>
  );
}

import { Field, Form } from "./Form.jsx";

/** A new coach says who they are before they add players. */
export function Profile({ touchline, onDone }) {
  return (
    <Form
      title="About you"
      button="Save"
      submit={async ({ name, sport, bio, years }) => {
        await touchline.post("/auth/complete-profile", { body: { name, bio, experience_years: Number(years), sports: [sport] } });
        onDone();
      }}
    >
      <Field label="Name" name="name" autoComplete="name" />
      <Field label="Sport" name="sport" />
      <Field label="How do you coach?" name="bio" />
      <Field label="Years as a coach" name="years" type="number" min="0" max="80" />
    </Form>
  );
}

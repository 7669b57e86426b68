import { useState } from "react";

import { Players } from "./Players.jsx";
import { Profile } from "./Profile.jsx";
import { SignIn } from "./SignIn.jsx";

/** A coach signs in, completes the profile once, and sees the players. */
export function App({ touchline, account, onChange }) {
  const [incomplete, setIncomplete] = useState(false);
  if (!account) return <SignIn touchline={touchline} onSignedIn={(next) => (setIncomplete(next === "complete_profile"), onChange())} />;
  if (incomplete) return <Profile touchline={touchline} onDone={() => setIncomplete(false)} />;
  return <Players touchline={touchline} onSignOut={() => touchline.session.signOut().finally(onChange)} />;
}

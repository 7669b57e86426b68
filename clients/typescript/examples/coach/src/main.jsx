import { Touchline } from "@touchline/client";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "./App.jsx";
import "./app.css";

const { service } = await (await fetch("/config.json")).json();
const root = createRoot(document.getElementById("app"));
const touchline = new Touchline({ baseUrl: service, storage: localStorage, onSignedOut: () => show() });

async function show() {
  const account = await touchline.session.account();
  root.render(
    <StrictMode>
      <App touchline={touchline} account={account} onChange={show} />
    </StrictMode>,
  );
}
show();

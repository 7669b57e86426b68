import { useEffect, useState } from "react";

const words = { pending: "waits", approved: "yes", rejected: "no", revoked: "taken back" };

/** The list of players. It changes when a family answers. */
export function Players({ touchline, onSignOut }) {
  const [players, setPlayers] = useState();
  const [news, setNews] = useState("");
  const [fault, setFault] = useState("");
  useEffect(() => {
    const ends = new AbortController();
    follow(touchline, ends.signal, setPlayers, setNews).catch((error) => ends.signal.aborted || setFault(error.message));
    return () => ends.abort();
  }, [touchline]);
  return (
    <main>
      <header>
        <h1>My players</h1>
        <button className="plain" onClick={onSignOut}>Sign out</button>
      </header>
      <p role="status" className="news">{news}</p>
      {fault && <p role="alert" className="fault">{fault}</p>}
      {players?.length === 0 && <p>You have no players yet. Add one in Touchline.</p>}
      {!players && !fault && <p>Loading…</p>}
      <ul>
        {players?.map((player) => (
          <li key={player.player_id}>
            <strong>{player.student.full_name}</strong>
            <Answer party="Guardian" status={player.guardian_status} />
            <Answer party="Student" status={player.student_status} />
          </li>
        ))}
      </ul>
    </main>
  );
}

function Answer({ party, status }) {
  return <span className={`answer ${status}`}>{party}: {words[status] ?? status}</span>;
}

/** Reads the list at the start and after each notification. */
async function follow(touchline, signal, setPlayers, setNews) {
  for await (const event of touchline.live({ signal })) {
    const players = [];
    for await (const player of touchline.all("/api/players", { signal })) players.push(player);
    setPlayers(players);
    if (event.type === "notification") setNews(event.notification.body);
  }
}

// A service that opens a feature for a party only while Touchline says so: GET /messages/{player_id}/{guardian|student} answers 200 or 403.
// It holds the availability of the players that it was asked about, and follows the feed to keep it right.
//
//   OPERATORS_URL=http://127.0.0.1:8081 TOKEN=… node chat-gateway.mjs 9100
import { createServer } from "node:http";
import { TouchlineService } from "@touchline/client/service";

const service = new TouchlineService({ baseUrl: process.env.OPERATORS_URL, token: process.env.TOKEN });
const known = new Map(); // player id → availability

async function read(ids) {
  const found = await service.availability(ids);
  for (const id of ids) found.has(id) ? known.set(id, found.get(id)) : known.delete(id);
}

let cursor; // a real service keeps it in its database
const following = service.follow({
  cursor: { load: () => cursor, save: (next) => void (cursor = next) },
  onStart: () => read([...known.keys()]),
  handle: (changes) => read([...new Set(changes.map((c) => c.player_id))].filter((id) => known.has(id))),
});
following.catch((error) => {
  console.error(error);
  process.exit(1); // without the feed, an old yes could stay
});

createServer(async (request, response) => {
  const [, , id, party] = request.url.split("/");
  try {
    if (!known.has(id)) await read([id]);
    const service = known.get(id)?.services.find((s) => s.service === "team_communications");
    const open = (party === "guardian" || party === "student") && service?.[party] === true;
    response.writeHead(open ? 200 : 403).end();
  } catch {
    response.writeHead(503).end(); // unknown is not yes
  }
}).listen(Number(process.argv[2] ?? 9100), "127.0.0.1", function () {
  console.log(`listening on ${this.address().port}`);
});

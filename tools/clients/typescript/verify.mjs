// Verifies an access token as another service does, with nothing but the URL of the issuer:
//
//     node verify.mjs http://127.0.0.1:8080 "$TOKEN"
//
// It prints the claims. The exit code is 1 if the token or the metadata are not as RFC 9068 and
// RFC 8414 say.
import * as oauth from "oauth4webapi";

const [url, token] = process.argv.slice(2);
const loopback = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(url);
const discovered = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...loopback });
const server = await oauth.processDiscoveryResponse(issuer, discovered);
const request = new Request(issuer, { headers: { Authorization: `Bearer ${token}` } });
console.log(JSON.stringify(await oauth.validateJwtAccessToken(server, request, "touchline", loopback)));

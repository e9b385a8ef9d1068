/** A realtime upstream for the benchmark: says as much audio as it hears, message for message. */
import { WebSocketServer } from "ws";

const delta = (length) =>
  `{"type":"response.output_audio.delta","event_id":"e","response_id":"r","delta":"${"A".repeat(length)}"}`;
const answers = new Map();
const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false }, () =>
  console.log(`listening ${server.address().port}`),
);
server.on("connection", (socket) => {
  socket.on("error", () => {});
  socket.send('{"type":"session.created","event_id":"c","session":{"type":"realtime","model":"up"}}');
  socket.on("message", (message) => {
    let answer = answers.get(message.length);
    if (answer === undefined) {
      answer = Buffer.from(delta(message.length));
      answers.set(message.length, answer);
    }
    socket.send(answer, { binary: false });
  });
});

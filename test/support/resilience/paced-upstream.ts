import { type ByteUpstream, chunk, reply, streamHead } from "./byte-upstream.ts";
import { formatOf } from "./formats.ts";

/** Has an upstream answer every call in its format: whole at once, streamed with a pause before each event. */
export function paced(upstream: ByteUpstream, pauseMs: number): void {
  upstream.replyWith(({ socket, head, body }) => {
    const format = formatOf(head);
    if (!body.includes('"stream":true') && !head.includes("streamGenerate")) {
      socket.write(reply(format.reply()));
      return;
    }
    const events = format.events();
    socket.write(streamHead);
    let index = 0;
    const timer = setInterval(() => {
      if (socket.destroyed || socket.readableEnded) clearInterval(timer);
      else if (index < events.length) socket.write(chunk(events[index++] ?? ""));
      else {
        clearInterval(timer);
        socket.write(chunk(""));
      }
    }, pauseMs);
  });
}

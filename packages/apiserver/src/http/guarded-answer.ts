/** An answer that goes on for long, and ends when the right to it is taken away: the stream breaks off, the connection is cut. */
import type { Cancel } from "@lifeboat/base";
import type { HttpResponse, HttpStream, HttpStreamSink, TakeOver } from "./exchange.ts";

/** `join` calls back once the right is gone; its answer ends that. */
export function guarded(answer: HttpResponse, join: (refused: () => void) => Cancel): HttpResponse {
  const { body } = answer;
  if ("start" in body) return { ...answer, body: guardedStream(body, join) };
  if ("take" in body) return { ...answer, body: guardedConnection(body, join) };
  return answer;
}

function guardedStream(body: HttpStream, join: (refused: () => void) => Cancel): HttpStream {
  let leave: Cancel = () => undefined;
  return {
    start: (out) => {
      leave = join(() => {
        body.stop();
        out.abort();
      });
      body.start(leaving(out, () => leave()));
    },
    stop: () => {
      leave();
      body.stop();
    },
  };
}

function leaving(out: HttpStreamSink, leave: () => void): HttpStreamSink {
  return {
    write: (chunk) => out.write(chunk),
    onDrain: (callback) => out.onDrain(callback),
    end: () => {
      leave();
      out.end();
    },
    abort: () => {
      leave();
      out.abort();
    },
  };
}

function guardedConnection(body: TakeOver, join: (refused: () => void) => Cancel): TakeOver {
  return {
    take: (connection) => {
      connection.once(
        "close",
        join(() => connection.destroy()),
      );
      body.take(connection);
    },
    drop: () => body.drop(),
  };
}

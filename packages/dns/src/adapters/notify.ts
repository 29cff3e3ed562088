/** Notifies secondaries that the zone has another serial (RFC 1996): asked again until one confirms, a few times. */
import { createSocket } from "node:dgram";
import { randomInt } from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "@lifeboat/base";
import type { Log } from "@lifeboat/kit";
import { isNotifyAnswer, notifyMessage } from "../notify.ts";
import { type Hmac, sign, type TsigKey } from "../wire/tsig.ts";
import type { Zone } from "../zone/zone.ts";

export interface Secondary {
  readonly host: string;
  readonly port: number;
}

export interface NotifierOptions {
  readonly secondaries: readonly Secondary[];
  /** Signs the messages; absent: they are sent without. */
  readonly key: TsigKey | undefined;
  readonly hmac: Hmac;
  readonly clock: Clock;
  readonly log: Log;
}

const TRIES = 5;
const FIRST_WAIT_MS = 1000;

export interface Notifier {
  /** Notifies all secondaries of a zone; notices of an earlier one end. */
  tell(zone: Zone): void;
  close(): void;
}

export function createNotifier(options: NotifierOptions): Notifier {
  const { secondaries, clock } = options;
  const running = new Map<Secondary, () => void>();
  const close = (): void => {
    for (const end of running.values()) end();
    running.clear();
  };
  return {
    tell: (zone) => {
      close();
      for (const secondary of secondaries)
        running.set(secondary, tell(secondary, zone, options, clock));
    },
    close,
  };
}

/** Answers the function that gives up. */
function tell(
  { host, port }: Secondary,
  zone: Zone,
  { key, hmac, log }: NotifierOptions,
  clock: Clock,
): () => void {
  const socket = createSocket(isIP(host) === 6 ? "udp6" : "udp4");
  const id = randomInt(0x10000);
  let cancel: (() => void) | undefined;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    cancel?.();
    socket.close();
  };
  const send = (tried: number): void => {
    if (tried >= TRIES) {
      log.warn("a secondary did not confirm that the zone changed", {
        secondary: `${host}:${port}`,
      });
      end();
      return;
    }
    const plain = notifyMessage(id, zone);
    const now = Math.floor(clock.now() / 1000);
    const message = key === undefined ? plain : sign(plain, key, { hmac, now }).message;
    // A datagram that is not sent is sent again.
    socket.send(message, port, host, () => undefined);
    cancel = clock.after(FIRST_WAIT_MS * 2 ** tried, () => send(tried + 1));
  };
  socket.on("message", (message) => {
    if (isNotifyAnswer(message, id)) end();
  });
  socket.on("error", (error) => {
    log.warn("a secondary could not be notified that the zone changed", { error });
    end();
  });
  socket.unref();
  send(0);
  return end;
}

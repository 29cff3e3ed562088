/** Runs a command on the control plane that its settings mean, and closes the connection whatever happens. */
import type { Client } from "@lifeboat/kit";
import { findPlane, inWords } from "./find-plane.ts";
import type { Settings } from "./settings.ts";

export async function withPlane(
  settings: Settings,
  run: (plane: Client) => Promise<void>,
): Promise<void> {
  await inWords(async () => {
    const plane = await findPlane(settings);
    try {
      await run(plane.client);
    } finally {
      plane.close();
    }
  });
}

/** Prints lines for people. */
export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

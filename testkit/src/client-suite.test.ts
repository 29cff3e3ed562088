import { clientContract } from "./client-suite.ts";
import { createWorld } from "./world.ts";

clientContract("in process", async () => {
  const world = await createWorld();
  return {
    client: world.client,
    pass: (milliseconds) => world.advance(milliseconds),
    close: () => world.close(),
  };
});

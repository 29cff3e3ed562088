/** Writes docs/pictures/captures/: what the commands show while a cluster fails. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { capturePictures } from "./captures.ts";

const folder = new URL("../../docs/pictures/captures/", import.meta.url);
const pictures = await capturePictures();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of pictures) writeFileSync(new URL(name, folder), text);

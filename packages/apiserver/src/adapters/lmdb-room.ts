/**
 * Whether the store may grow. An lmdb file never gets smaller: what deletions free are pages inside it, and the next write
 * takes those before it takes more of the disk. So the room is what the disk has left and what is free inside the file.
 *
 * 1. Growing writes leave `reserveBytes` of that sum alone, so that deletions, which write before they free, go on.
 * 2. A value of several pages needs free pages side by side. Where there are none lmdb takes the disk's room instead; a disk
 *    that has none left refuses that one write, and nothing is applied.
 */

/** The room around a store, in bytes. */
export interface Room {
  /** What the file system has left for this user. */
  readonly onDisk: number;
  /** Pages of the file that hold nothing. */
  readonly inFile: number;
}

/** What lmdb counts of one table. */
export interface PageCounts {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

const MIB = 1024 * 1024;
/** Two headers, one page each. */
const HEADER_PAGES = 2;

/** Undefined when a write of so many bytes fits, else a sentence for the client that is refused. */
export function lackOfRoom(
  directory: string,
  room: Room,
  wantedBytes: number,
  reserveBytes: number,
): string | undefined {
  if (room.onDisk + room.inFile - wantedBytes >= reserveBytes) return undefined;
  return (
    `the disk of ${directory} is full: ${inMib(room.onDisk)} MiB are left on it and ${inMib(room.inFile)} MiB inside ` +
    `the store, and ${Math.ceil(reserveBytes / MIB)} MiB are kept for deletions: delete objects or make room on the disk`
  );
}

/** How many bytes of the file belong to no table. */
export function freeBytesInFile(
  pageSize: number,
  lastPage: number,
  tables: readonly PageCounts[],
): number {
  let used = HEADER_PAGES;
  for (const table of tables)
    used += table.treeBranchPageCount + table.treeLeafPageCount + table.overflowPages;
  return Math.max(lastPage + 1 - used, 0) * pageSize;
}

function inMib(bytes: number): number {
  return Math.floor(bytes / MIB);
}

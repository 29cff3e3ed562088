export { DirectoryRefused } from "./lmdb-directory.ts";
export { type LmdbStorageOptions, openLmdbStorage } from "./lmdb-storage.ts";

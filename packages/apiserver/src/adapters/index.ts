export { DirectoryRefused } from "./lmdb-directory.ts";
export { type LmdbStorageOptions, openLmdbStorage } from "./lmdb-storage.ts";
export { type Pki, openPki, writeKubeconfig } from "./pki.ts";
export { createTlsServer, type TlsServer, type TlsServerOptions } from "./tls-server.ts";

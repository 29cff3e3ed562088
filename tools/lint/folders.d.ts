/** For the tests that read the same tables. */
export declare const PACKAGES_WITH_FOLDERS: readonly string[];
export type FolderTables = Readonly<Record<string, readonly string[]>>;
export declare function foldersOf(name: string, readme: string): FolderTables;
export declare function folderComplaint(
  tables: FolderTables,
  from: string,
  to: string,
): string | undefined;

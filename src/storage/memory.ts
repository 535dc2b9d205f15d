import { AlreadyExistsError, type ObjectStore } from './object-store.ts';

/** An object store that lives and dies with the process. */
export function memoryStore(): ObjectStore {
  const files = new Map<string, Uint8Array>();
  return {
    read: async (path) => files.get(path)?.slice() ?? null,
    write: async (path, bytes) => {
      files.set(path, bytes.slice());
    },
    createExclusive: async (path, bytes) => {
      if (files.has(path)) throw new AlreadyExistsError(path);
      files.set(path, bytes.slice());
    },
    list: async (folder) => {
      const prefix = folder.endsWith('/') ? folder : `${folder}/`;
      const entries = new Map<string, boolean>();
      for (const path of files.keys()) {
        if (!path.startsWith(prefix)) continue;
        const [name = '', ...rest] = path.slice(prefix.length).split('/');
        entries.set(name, rest.length > 0);
      }
      return [...entries]
        .map(([name, isFolder]) => ({ name, isFolder }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    remove: async (path) => {
      files.delete(path);
    },
  };
}

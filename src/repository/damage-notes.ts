import { objectKey } from './store/keys.ts';
import type { ObjectStore, Store } from './store/store.ts';

export interface DamageNotes {
  add(sha256s: string[]): Promise<void>;
  /** Objects of the store without those that are noted: sending one replaces it and ends its note. */
  objects: ObjectStore;
  /** Removes notes of objects that are no longer in the store. */
  sweep(): Promise<void>;
}

const FOLDER = 'damaged';

/** Notes of damaged objects in a bucket, as keys below `damaged/`: a push reads no objects, and would rely on them. */
export function createDamageNotes(store: Store): DamageNotes {
  const noted = new Set<string>();

  async function read(): Promise<Set<string>> {
    for (const { key } of await store.list(FOLDER)) {
      const sha256 = key.slice(FOLDER.length + 1);
      if (/^[0-9a-f]{64}$/.test(sha256)) noted.add(objectKey(sha256));
    }
    return noted;
  }

  async function end(key: string): Promise<void> {
    await store.remove(noteKey(key));
    noted.delete(key);
  }

  return {
    async add(sha256s) {
      for (const key of sha256s.map(objectKey)) {
        await store.write(noteKey(key), 'The content of this object differs from its name.\n');
        noted.add(key);
      }
    },
    objects: {
      get: store.get,
      async present(keys) {
        const [there, damaged] = await Promise.all([store.present(keys), read()]);
        return new Set([...there].filter((key) => !damaged.has(key)));
      },
      async put(key, file, transfer) {
        await store.put(key, file, transfer);
        if (noted.has(key)) await end(key);
      },
    },
    async sweep() {
      for (const key of await read()) if ((await store.find(key)) === null) await end(key);
    },
  };
}

function noteKey(key: string): string {
  return `${FOLDER}/${key.slice(key.lastIndexOf('/') + 1)}`;
}

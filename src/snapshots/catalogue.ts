import * as v from 'valibot';
import type { Report } from '../events.ts';
import { SealBroken } from './encryption/sealed-format.ts';
import { filesOfTable, type Manifest, type ManifestFile, manifestSchema } from './manifest.ts';
import { mapSideBySide } from './side-by-side.ts';
import type { Store, StoredFile } from './store.ts';

/** An object younger than this is never swept: a build or a push that names it may still be going on. */
const SWEEP_AGE = 24 * 60 * 60 * 1000;

/** Manifests that are read at the same moment. */
const READS_AT_ONCE = 16;

/** The snapshots of a store: manifests over content-addressed objects. */
export interface Catalogue {
  /** The manifests' files, newest first; of every target unless one is named. */
  files(target?: string): Promise<StoredFile[]>;
  /** `null` when it is gone or, which is warned of, damaged. */
  read(key: string): Promise<Manifest | null>;
  /** Newest first. A damaged manifest is warned of and left out. */
  list(target: string): Promise<Manifest[]>;
  /** Writes, or replaces, a manifest; what it names must be stored already. */
  write(manifest: Manifest): Promise<void>;
  /** Removes the manifest, not its objects: see `sweep`. */
  remove(manifest: Pick<Manifest, 'target' | 'created_at' | 'id'>): Promise<void>;
  /** Bytes of objects that only these manifests name. */
  ownBytes(manifests: Manifest[]): Promise<number>;
  /**
   * Removes objects older than a day that no manifest names; the bytes freed. None while a manifest is damaged.
   * Whoever calls it sees to it that nobody is storing meanwhile, or that no more is removed then.
   */
  sweep(now: Date, mayGoOn?: () => boolean): Promise<number>;
}

export function createCatalogue(store: Store, report: Report): Catalogue {
  async function files(target?: string): Promise<StoredFile[]> {
    const listed = await store.list(target === undefined ? 'snapshots' : targetPrefix(target));
    const nameOf = ({ key }: StoredFile): string => key.slice(key.lastIndexOf('/') + 1);
    return listed.filter(({ key }) => key.endsWith('.json')).sort((a, b) => (nameOf(a) < nameOf(b) ? 1 : -1));
  }

  /** `undefined` when there is none. */
  async function parse(key: string): Promise<Manifest | null | undefined> {
    try {
      const text = await store.read(key);
      if (text === null) return undefined;
      return v.parse(manifestSchema, JSON.parse(text));
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown;
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      report({ event: 'warning', code: 'manifest_damaged', message: `Cannot read ${store.name}/${key}: ${reason}` });
      return null;
    }
  }

  /** `null` for those that are damaged. */
  async function readAll(target?: string): Promise<(Manifest | null)[]> {
    const read = await mapSideBySide(await files(target), READS_AT_ONCE, ({ key }) => parse(key));
    return read.filter((manifest) => manifest !== undefined);
  }

  return {
    files,
    read: async (key) => (await parse(key)) ?? null,
    list: async (target) => (await readAll(target)).filter((manifest) => manifest !== null),
    write: (manifest) => store.write(manifestKey(manifest), `${JSON.stringify(manifest, null, 2)}\n`),
    remove: (manifest) => store.remove(manifestKey(manifest)),

    async ownBytes(manifests) {
      const going = new Set(manifests.map(({ id }) => id));
      const all = (await readAll()).filter((manifest) => manifest !== null);
      const shared = namedObjects(all.filter(({ id }) => !going.has(id)));
      const own = new Map(manifests.flatMap(filesOf).map((file) => [file.sha256, file.stored_bytes]));
      return [...own].reduce((sum, [sha256, bytes]) => (shared.has(sha256) ? sum : sum + bytes), 0);
    },

    async sweep(now, mayGoOn = () => true) {
      const young = new Date(now.getTime() - SWEEP_AGE);
      const objects = await store.list('objects');
      const manifests = await readAll();
      // One that cannot be read, or that a newer version has written, may name any object.
      if (!manifests.every((manifest) => manifest !== null)) return 0;
      const named = namedObjects(manifests);
      const unnamed = objects.filter(
        ({ key, modified }) => modified < young && !named.has(key.slice(key.lastIndexOf('/') + 1)),
      );
      const freed = await mapSideBySide(unnamed, READS_AT_ONCE, async ({ key, bytes }) => {
        if (!mayGoOn()) return 0;
        await store.remove(key);
        return bytes;
      });
      await store.removeUnfinished(young);
      return freed.reduce((sum, bytes) => sum + bytes, 0);
    },
  };
}

/** Of what is there, not of the way to it. */
export function isDamage(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof v.ValiError || error instanceof SealBroken;
}

export function filesOf(manifest: Manifest): ManifestFile[] {
  return [...manifest.tables.flatMap(filesOfTable), ...manifest.files];
}

function namedObjects(manifests: Manifest[]): Set<string> {
  return new Set(manifests.flatMap((manifest) => filesOf(manifest).map((file) => file.sha256)));
}

export function manifestKey({ target, created_at, id }: Pick<Manifest, 'target' | 'created_at' | 'id'>): string {
  return `${targetPrefix(target)}/${created_at.replaceAll(/[-:]/g, '').replace('.', '')}-${id}.json`;
}

/** When a snapshot was taken, as the name of its manifest says. */
export function timeInKey(key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})?Z-.*$/, (_, ...parts: string[]) => {
    const [year, month, day, hour, minute, second, millisecond = '000'] = parts;
    return `${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`;
  });
}

/** A target may be called anything; its folder must not leave `snapshots/`. */
function targetPrefix(target: string): string {
  return `snapshots/${encodeURIComponent(target).replaceAll('.', '%2E')}`;
}

export function objectKey(sha256: string): string {
  return `objects/${sha256.slice(0, 2)}/${sha256}`;
}

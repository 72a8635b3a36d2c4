import * as v from 'valibot';
import type { Report } from '../runtime/events.ts';
import { mapWithConcurrency } from '../runtime/map-with-concurrency.ts';
import { SealBroken } from './encryption/sealed-format.ts';
import { parseImageManifest } from './images/image-manifest.ts';
import {
  filesOfTable,
  type Manifest,
  type ManifestFile,
  ManifestInvalid,
  manifestText,
  parseManifest,
} from './manifest/manifest.ts';
import { isManifestKey, isObjectKey, keyRefused } from './store/keys.ts';
import { type Store, type StoredFile, TooLarge } from './store/store.ts';

/** Younger objects are never swept: an active build or push may be about to reference them. */
const SWEEP_AGE = 24 * 60 * 60 * 1000;

const READS_AT_ONCE = 16;

/** Snapshots in a store: manifests over content-addressed objects. */
export interface Repository {
  files(target?: string): Promise<StoredFile[]>;
  /** `null` when it is missing, or damaged (with a warning). */
  read(key: string): Promise<Manifest | null>;
  /** Newest first, without damaged manifests (with a warning). */
  list(target: string): Promise<Manifest[]>;
  /** Writes or replaces a manifest; its objects must be stored already. */
  write(manifest: Manifest): Promise<void>;
  remove(manifest: ManifestName): Promise<void>;
  naming(sha256s: ReadonlySet<string>): Promise<Manifest[]>;
  ownBytes(manifests: Manifest[]): Promise<number>;
  /**
   * Removes unreferenced objects older than a day and returns the freed bytes; removes none while a manifest is
   * damaged. Before each removal age, manifests and `mayGoOn` are checked again.
   */
  sweep(now: Date, mayGoOn?: () => Promise<boolean>): Promise<number>;
}

type ManifestName = Pick<Manifest, 'target' | 'created_at' | 'id'> & Partial<Pick<Manifest, 'save'>>;

export type ManifestStore = Pick<Store, 'name' | 'list' | 'read' | 'write' | 'remove'>;

/** Snapshots whose objects are elsewhere. */
export function createManifests(store: ManifestStore, report: Report): Omit<Repository, 'sweep'> {
  return openManifests(store, report).manifests;
}

interface ManifestOptions {
  /** Accepts saves as well; they are read as damaged manifests otherwise. */
  saves?: boolean;
}

function openManifests(store: ManifestStore, report: Report, { saves = false }: ManifestOptions = {}) {
  async function files(target?: string): Promise<StoredFile[]> {
    const found = await filesIn(target === undefined ? 'snapshots' : targetPrefix(target));
    return found.filter(({ key }) => !isImageKey(key));
  }

  async function filesIn(prefix: string): Promise<StoredFile[]> {
    const listed = await store.list(prefix);
    const nameOf = ({ key }: StoredFile): string => key.slice(key.lastIndexOf('/') + 1);
    return listed.filter(({ key }) => key.endsWith('.json')).sort((a, b) => (nameOf(a) < nameOf(b) ? 1 : -1));
  }

  function parse(key: string): Promise<Manifest | null | undefined> {
    return parseText(key, (text) => {
      const manifest = parseManifest(text, { save: saves && key.startsWith(SAVES) });
      // A manifest under a foreign key could redirect operations.
      if (manifestKey(manifest) !== key) throw new ManifestInvalid('it is the manifest of another snapshot');
      return manifest;
    });
  }

  /** The objects that a manifest of a snapshot, or of an image, names. */
  async function namedIn(key: string): Promise<string[] | null | undefined> {
    if (isImageKey(key)) return parseText(key, (text) => parseImageManifest(text).chunks.map(({ sha256 }) => sha256));
    const manifest = await parse(key);
    return manifest && filesOf(manifest).map(({ sha256 }) => sha256);
  }

  async function parseText<Parsed>(key: string, parsed: (text: string) => Parsed): Promise<Parsed | null | undefined> {
    try {
      const text = await store.read(key);
      return text === null ? undefined : parsed(text);
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown;
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      report({ event: 'warning', code: 'manifest_damaged', message: `Cannot read ${store.name}/${key}: ${reason}` });
      return null;
    }
  }

  const known = new Map<string, { version: string; manifest: Manifest }>();

  async function readAll(found: Promise<StoredFile[]>): Promise<Manifest[]> {
    const read = await mapWithConcurrency(await found, READS_AT_ONCE, async ({ key, version }) => {
      const before = known.get(key);
      if (before?.version === version) return before.manifest;
      const manifest = await parse(key);
      if (manifest) known.set(key, { version, manifest });
      return manifest;
    });
    return read.filter((manifest) => manifest != null);
  }

  /** The objects that other manifests reference. */
  async function referencedByOthers(manifests: Manifest[]): Promise<Set<string>> {
    const going = new Set(manifests.map(({ id }) => id));
    return namedObjects((await readAll(files())).filter(({ id }) => !going.has(id)));
  }

  const manifests: Omit<Repository, 'sweep'> = {
    files,
    read: async (key) => (await parse(key)) ?? null,
    list: (target) => readAll(files(target)),
    write: (manifest) => store.write(manifestKey(manifest), manifestText(manifest)),
    remove: (manifest) => store.remove(manifestKey(manifest)),

    async naming(sha256s) {
      const all = await readAll(files());
      return all.filter((manifest) => filesOf(manifest).some(({ sha256 }) => sha256s.has(sha256)));
    },

    async ownBytes(manifests) {
      const shared = await referencedByOthers(manifests);
      const own = new Map(manifests.flatMap(filesOf).map((file) => [file.sha256, file.stored_bytes]));
      return [...own].reduce((sum, [sha256, bytes]) => (shared.has(sha256) ? sum : sum + bytes), 0);
    },
  };
  const listSaves = (target: string) => readAll(filesIn(targetPrefix(target, SAVES)));
  const allFiles = () => filesIn('snapshots');
  return { manifests, allFiles, namedIn, saves: { listSaves, referencedByOthers } };
}

export type SaveLists = ReturnType<typeof openManifests>['saves'];

export function createRepository(store: Store, report: Report, options?: ManifestOptions): Repository & SaveLists {
  const { manifests, saves, allFiles, namedIn } = openManifests(store, report, options);

  function createNames() {
    const read = new Map<string, string>();
    const named = new Set<string>();
    return {
      has: (key: string): boolean => named.has(key.slice(key.lastIndexOf('/') + 1)),
      /** Reads new and changed manifests; `false` when one is unreadable and may reference any object. */
      async readNew(): Promise<boolean> {
        const unread = (await allFiles()).filter(({ key, version }) => read.get(key) !== version);
        const lists = await mapWithConcurrency(unread, READS_AT_ONCE, ({ key }) => namedIn(key));
        if (lists.includes(null)) return false;
        for (const { key, version } of unread) read.set(key, version);
        for (const list of lists) for (const sha256 of list ?? []) named.add(sha256);
        return true;
      },
    };
  }

  /** A version that does not know images leaves those of the snapshots that it removes. */
  async function removeLostImages(isOld: (file: StoredFile) => boolean): Promise<void> {
    const found = await allFiles();
    const keys = new Set(found.map(({ key }) => key));
    const isLost = (file: StoredFile): boolean =>
      isImageKey(file.key) && isOld(file) && !keys.has(snapshotKeyOf(file.key));
    for (const { key } of found.filter(isLost)) await store.remove(key);
  }

  async function removeImages(manifest: ManifestName): Promise<void> {
    const key = manifestKey(manifest);
    const images = await store.list(targetPrefix(manifest.target, IMAGES));
    for (const image of images.filter((one) => snapshotKeyOf(one.key) === key)) await store.remove(image.key);
  }

  return {
    ...manifests,
    ...saves,

    async remove(manifest) {
      // First: an image without a snapshot would be lost.
      if (manifest.save === undefined) await removeImages(manifest);
      await manifests.remove(manifest);
    },

    async sweep(now, mayGoOn = async () => true) {
      const young = new Date(now.getTime() - SWEEP_AGE);
      const isOld = ({ modified }: StoredFile): boolean => modified < young;
      if (await mayGoOn()) await removeLostImages(isOld);
      const objects = (await store.list('objects')).filter((file) => isObjectKey(file.key) && isOld(file));
      const names = createNames();
      if (!(await names.readNew())) return 0;
      const unnamed = objects.filter(({ key }) => !names.has(key));
      const freed = await mapWithConcurrency(unnamed, READS_AT_ONCE, async ({ key, bytes }) => {
        // Minutes may have passed, or hours when the machine slept.
        if (!(await mayGoOn()) || !(await names.readNew()) || names.has(key)) return 0;
        const object = await store.find(key);
        if (!object || !isOld(object)) return 0;
        await store.remove(key);
        return bytes;
      });
      await store.removeUnfinished(young);
      return freed.reduce((sum, bytes) => sum + bytes, 0);
    },
  };
}

const DAMAGE = [SyntaxError, v.ValiError, ManifestInvalid, SealBroken, TooLarge];

/** Damage of the content, as opposed to a failed access. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.some((kind) => error instanceof kind);
}

export function filesOf(manifest: Manifest): ManifestFile[] {
  return [...manifest.tables.flatMap(filesOfTable), ...manifest.files];
}

export function namedObjects(manifests: Manifest[]): Set<string> {
  return new Set(manifests.flatMap((manifest) => filesOf(manifest).map((file) => file.sha256)));
}

export function manifestKey({ target, created_at, id, save }: ManifestName): string {
  const folder = targetPrefix(target, save === undefined ? SNAPSHOTS : SAVES);
  const key = `${folder}/${created_at.replaceAll(/[-:]/g, '').replace('.', '')}-${id}.json`;
  if (!isManifestKey(key)) throw keyRefused();
  return key;
}

export function timeInKey(key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})?Z-.*$/, (_, ...parts: string[]) => {
    const [year, month, day, hour, minute, second, millisecond = '000'] = parts;
    return `${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`;
  });
}

const SNAPSHOTS = 'snapshots/';

/**
 * No encoded name has a plus sign, so that no target lists them. They are in the folder of snapshots, where the sweep of any
 * version finds them: one that does not know saves takes them as damaged manifests, and removes no object.
 */
const SAVES = `${SNAPSHOTS}save+`;

/** Manifests of images are beside those of snapshots for the same reasons. */
const IMAGES = `${SNAPSHOTS}image+`;

export function isImageKey(key: string): boolean {
  return key.startsWith(IMAGES);
}

/** The key of an image of a snapshot, by its name. Without: of the only one that earlier versions have written. */
export function imageKey({ target, created_at, id }: ManifestName, name?: string): string {
  const key = manifestKey({ target, created_at, id }).replace(SNAPSHOTS, IMAGES);
  return name === undefined ? key : `${key.slice(0, -'.json'.length)}+${name}.json`;
}

function snapshotKeyOf(key: string): string {
  return key.replace(IMAGES, SNAPSHOTS).replace(/\+[^/]*(?=\.json$)/, '');
}

/** On a hub, another image never has the same key: no publication that is cut off replaces one. */
export function imageKeyOnHub(manifest: ManifestName, { name, sha256 }: { name: string; sha256: string }): string {
  return imageKey(manifest).replace(IMAGES, () => `${IMAGES}${name}-${sha256.slice(0, 16)}+`);
}

/** Any target name must stay inside `snapshots/`. */
function targetPrefix(target: string, root = SNAPSHOTS): string {
  return `${root}${encodeURIComponent(target).replaceAll('.', '%2E')}`;
}

import { EXIT, UserError } from '../errors.ts';
import { isManifestKey, isObjectKey } from './keys.ts';
import type { Store } from './store.ts';

/** Lies at the top of a folder or bucket prefix that holds snapshots: everything below may be swept by our rules. */
const MARK = 'tool-storage.txt';

const MARK_TEXT =
  'Snapshots of databases, kept by tool. It removes what it no longer needs from here: keep nothing else.\n';

/** Where our files are, and what they are called there. */
const OWN: Record<string, RegExp> = {
  snapshots: /^snapshots\/[^/]+\/[^/]+\.json$/,
  objects: /^objects\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/,
  index: /^index\/[^/]+\.json$/,
  locks: /^locks\/(push|sweep)-[0-9a-f]{16}$/,
  probe: /^probe\/[^/]+$/,
  staging: /^staging\/\d+-[0-9a-f]{8}\//,
  cache: /^cache\/[0-9a-f]{16}\/index\/[^/]+$/,
  logs: /^logs\/tool\.log(\.|$)/,
  // Of the launcher, where XDG_CACHE_HOME is the same folder.
  tool: /^tool\/compile-cache\//,
};

/** What is at the top besides: our own, and what systems leave in any folder. */
const OWN_TOP = /^(encrypted|tool\.yml(\..+)?|\.DS_Store|Thumbs\.db|desktop\.ini|lost\+found\/)$/;

/** Whose a store is: it has our mark or our layout, nothing is in it, or somebody else's files are. */
export type Ownership = 'marked' | 'ours' | 'empty' | 'foreign';

export async function ownershipOf(store: Store): Promise<Ownership> {
  const top = await store.top();
  if (top.includes(MARK)) return 'marked';
  const folders = Object.keys(OWN).filter((folder) => top.includes(`${folder}/`));
  const keys = (await Promise.all(folders.map((folder) => store.list(folder)))).flat().map(({ key }) => key);
  if (keys.some((key) => isManifestKey(key) || isObjectKey(key))) return 'ours';
  const isOwn = (name: string): boolean => OWN_TOP.test(name) || folders.some((folder) => name === `${folder}/`);
  const isForeign = !top.every(isOwn) || !keys.every((key) => OWN[key.slice(0, key.indexOf('/'))]?.test(key));
  return isForeign ? 'foreign' : 'empty';
}

/** Marks a store as ours before anything is stored in it or removed from it; refuses what is somebody else's. */
export async function claim(store: Store, refusal: () => UserError): Promise<void> {
  const ownership = await ownershipOf(store);
  if (ownership === 'foreign') throw refusal();
  if (ownership !== 'marked') await store.write(MARK, MARK_TEXT);
}

export function foreignFolder(path: string): UserError {
  return new UserError(`The working directory ${path} holds files of something else`, {
    code: 'working_directory_foreign',
    exit: EXIT.configuration,
    details: [
      'Nothing was written or removed there: the tool deletes old files of its own from its working directory.',
    ],
    hint: 'Set working_directory in the configuration to an empty folder, or to one that does not exist.',
  });
}

export function foreignBucket(name: string, profile: string): UserError {
  return new UserError(`${name} holds objects of something else`, {
    code: 'storage_foreign',
    exit: EXIT.configuration,
    details: ['Nothing was written or removed there: the tool deletes old objects of its own.'],
    hint: `Set storage_profiles.${profile}.prefix to one that nobody else uses.`,
  });
}

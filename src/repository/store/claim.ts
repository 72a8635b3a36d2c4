import { UserError } from '../../runtime/errors.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { isManifestKey, isObjectKey } from './keys.ts';
import type { Store } from './store.ts';

/** At the top of a folder or bucket prefix with snapshots: the program may sweep everything below it. */
const MARK = 'tool-storage.txt';

const MARK_TEXT =
  'Snapshots of databases, kept by tool. It removes what it no longer needs from here: keep nothing else.\n';

/** The exact names of the program's files, by folder. */
const OWN: Record<string, RegExp> = {
  snapshots: /^snapshots\/[^/]+\/[^/]+\.json$/,
  objects: /^objects\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/,
  damaged: /^damaged\/[0-9a-f]{64}$/,
  index: /^index\/[^/]+\.json$/,
  locks: /^locks\/(push|sweep)-[0-9a-f]{16}$/,
  probe: /^probe\/[^/]+$/,
  staging: /^staging\/\d+-[0-9a-f]{8}\//,
  cache: /^cache\/([0-9a-f]{16}\/index\/[^/]+|hub-(targets|uploads\/[0-9a-f]{32})\.json(\.[0-9a-f]+\.tmp)?)$/,
  evidence: /^evidence\/[^/]+\.json(\.[0-9a-f]{8}\.tmp)?$/,
  'query-texts': /^query-texts\/[0-9a-f]{8}\.sql$/,
  logs: /^logs\/tool\.log(\.|$)/,
  // Files of the launcher, the screens and a single executable, when XDG_CACHE_HOME is the same folder.
  tool: /^tool\/(compile-cache\/|(targets|tool\.schema)\.json)/,
};

/** Permitted files at the top: the program's own, and those of operating systems. */
const OWN_TOP =
  /^(encrypted|history\.jsonl(\.1|\.lock)?|identities\.json(\.[0-9a-f]{8}\.tmp)?|tool\.yml(\..+)?|\.DS_Store|Thumbs\.db|desktop\.ini|lost\+found\/)$/;

export type RepositoryOwnership = 'marked' | 'ours' | 'empty' | 'foreign';

export async function ownershipOf(store: Store, configured: string[] = []): Promise<RepositoryOwnership> {
  return (await readOwnership(store, configured)).ownership;
}

async function readOwnership(
  store: Store,
  configured: string[],
): Promise<{ ownership: RepositoryOwnership; foreign: string[] }> {
  const top = await store.top();
  if (top.includes(MARK)) return { ownership: 'marked', foreign: [] };
  const folders = Object.keys(OWN).filter((folder) => top.includes(`${folder}/`));
  const keys = (await Promise.all(folders.map((folder) => store.list(folder)))).flat().map(({ key }) => key);
  if (keys.some((key) => isManifestKey(key) || isObjectKey(key))) return { ownership: 'ours', foreign: [] };
  const isOwn = (name: string): boolean =>
    OWN_TOP.test(name) || configured.includes(name) || folders.some((folder) => name === `${folder}/`);
  const foreign = [
    ...top.filter((name) => !isOwn(name)),
    ...keys.filter((key) => !OWN[key.slice(0, key.indexOf('/'))]?.test(key)),
  ];
  return { ownership: foreign.length > 0 ? 'foreign' : 'empty', foreign };
}

/** Marks a store before anything in it changes; refuses a store with foreign files. */
export async function claim(
  store: Store,
  { configured = [], refusal }: { configured?: string[]; refusal: (foreign: string[]) => UserError },
): Promise<void> {
  const { ownership, foreign } = await readOwnership(store, configured);
  if (ownership === 'foreign') throw refusal(foreign);
  if (ownership !== 'marked') await store.write(MARK, MARK_TEXT);
}

export function foreignFolder(path: string, foreign: string[]): UserError {
  return new UserError('working_directory_foreign', `The working directory ${path} contains foreign files`, {
    details: [
      'Nothing was written or removed there: the tool deletes old files of its own from its working directory.',
      namesOf(foreign),
    ],
    hint: 'Set working_directory in the configuration to an empty folder, or to one that does not exist.',
  });
}

export function foreignBucket({
  name,
  profile,
  foreign = [],
}: {
  name: string;
  profile: string;
  foreign?: string[];
}): UserError {
  return new UserError('storage_foreign', `${name} contains foreign objects`, {
    details: [
      'Nothing was written or removed there: the tool deletes old objects of its own.',
      ...(foreign.length > 0 ? [namesOf(foreign)] : []),
    ],
    hint: `Set the prefix, or the path, of storage_profiles.${profile} to an unused one.`,
  });
}

const NAMES_TOLD = 5;

function namesOf(foreign: string[]): string {
  return `Found: ${boundedList(foreign, NAMES_TOLD)}`;
}

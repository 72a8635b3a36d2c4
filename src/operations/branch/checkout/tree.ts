import { basename, join } from 'node:path';
import type { BranchPlan } from '../../../engines/facets/branch.ts';
import type { Branch } from '../../../engines/facets/copies.ts';
import { parseUrl } from '../../../engines/registry.ts';
import type { BranchCheckoutPlan } from '../../../results/branch-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import { isVisibleName, LONGEST_VISIBLE_NAME } from '../../../text/visible-name.ts';
import { isTracked } from '../../git.ts';
import type { Lines } from '../../link/file-format.ts';
import { formatOf } from '../../link/formats.ts';
import {
  isFirstTree,
  type Link,
  listTrees,
  newToken,
  readTreeRecord,
  type TreeRecord,
  writeTreeRecord,
} from '../../link/memory.ts';
import { readInTree, refused, writeInTree } from '../../link/tree-file.ts';
import type { Tree } from '../../link/trees.ts';
import { planOutdated } from '../../planned.ts';
import { applyBranchCreate, planBranchCreate } from '../create/create.ts';
import type { BranchesRequest, OpenedBranches } from '../open-branches.ts';

export interface LinkedTree {
  tree: Tree;
  link: Link;
  gitBranch: string | null;
}

type Present = Pick<BranchCheckoutPlan, 'action' | 'why' | 'creates' | 'tree' | 'steps'>;

export async function chooseForTree(
  { context }: OpenedBranches,
  { target }: BranchesRequest,
  { branches, ...linked }: LinkedTree & { branches: Branch[] },
): Promise<Present> {
  const { tree, link } = linked;
  const nothing = { action: 'none' as const, creates: false, tree: null, steps: [] };
  const { follow } = context.configuration.settings.branches;
  const { name, exists } = await chooseBranch(linked, { follow, present: branches });
  const place = { folder: tree.folder, file: link.file, branch: name };
  await readMainLines(link, linked);
  if (exists && (await hasUrlOf({ tree, link }, exists))) {
    return { ...nothing, tree: place, why: `${link.file} has the database of branch ${name}` };
  }
  const steps = [
    ...(exists ? [] : [`Create branch ${name} of ${target}`]),
    `Write ${link.key} to ${join(tree.folder, link.file)}`,
  ];
  return { action: 'tree', why: null, creates: !exists, tree: place, steps };
}

/** Reports whether a tree is new, and has a branch of its own name: no other choice depends on the present branches. */
export async function needsBranch({ context }: OpenedBranches, { tree }: LinkedTree): Promise<boolean> {
  const { follow } = context.configuration.settings.branches;
  return follow === 'tree' && (await readTreeRecord(tree)) === null;
}

/** Creates the branch, if it is missing, and writes the URL to the file of the tree. `found`: the plan of a new one. */
export async function writeForTree(
  opened: OpenedBranches,
  request: BranchesRequest,
  { found, ...linked }: LinkedTree & { found: BranchPlan | null },
) {
  const { tree, link } = linked;
  const { follow } = opened.context.configuration.settings.branches;
  const format = formatOf(link.file);
  const main = await readMainLines(link, linked);
  const checking = assertUntracked(opened, tree, link);
  checking.catch(() => {});
  // The creation of a new tree's branch finds whether its name is in use.
  const isNew = follow !== 'branch' && (await readTreeRecord(tree)) === null;
  const chosen = await chooseBranch(linked, { follow, present: isNew ? [] : await opened.database.branches.list() });
  const bytes = await readInTree(tree.folder, link.file);
  // A file that cannot be changed is refused before there is a branch.
  format.withLines(bytes, main);
  const record = chosen.record ?? {
    ...{ format: 1 as const, token: chosen.token, own: tree.own, file: link.file, mentioned: false },
    before: bytes === null ? null : format.formerOf(bytes, link.key),
    unended: bytes !== null && bytes !== '' && !bytes.endsWith('\n'),
    ...(bytes === null && { keys: Object.keys(main) }),
  };
  let { name } = chosen;
  const remember = async (): Promise<void> => {
    await checking;
    await writeTreeRecord(tree, { ...record, branch: name, folder: tree.folder });
  };
  let database = chosen.exists?.database;
  if (database === undefined) {
    const create = (): Promise<string> =>
      createBranchOf(opened, request, { name, linked, found, token: record.token, remember });
    database = await create().catch((thrown) => {
      const taken = thrown instanceof UserError && ['branch_exists', 'database_name_taken'].includes(thrown.code);
      if (!taken) throw thrown;
      name = withToken(name, record.token);
      return create();
    });
  } else await remember();
  const after = format.withLines(bytes, format.linesFor(main, { key: link.key, database }));
  await writeInTree({ path: join(tree.folder, link.file), before: bytes, after });
  return { folder: tree.folder, file: link.file, branch: name };
}

interface ChosenBranch {
  name: string;
  exists: Branch | undefined;
  record: TreeRecord | null;
  token: string;
}

async function chooseBranch(
  { tree, gitBranch }: LinkedTree,
  { follow, present }: { follow: 'tree' | 'branch' | 'off'; present: Branch[] },
): Promise<ChosenBranch> {
  const record = await readTreeRecord(tree);
  const token = record?.token ?? newToken();
  const find = (name: string) => present.find((branch) => branch.name === name);
  if (follow !== 'branch' || gitBranch === null) {
    if (record) return { name: record.branch, exists: unlessForeign(find(record.branch), record), record, token };
    const name = named(basename(tree.own), token);
    return { name: find(name) ? withToken(name, token) : name, exists: undefined, record, token };
  }
  const name = named(gitBranch, token);
  const others = (await listTrees(tree)).filter((each) => each.token !== token && each.present !== null);
  const isShared = find(name)?.current === true || others.some(({ branch }) => branch === name);
  if (!isShared) return { name, exists: find(name), record, token };
  const own = withToken(name, token);
  return { name: own, exists: find(own), record, token };
}

/** A branch of the recorded name that another tree or person created meanwhile is not that of this tree. */
function unlessForeign(found: Branch | undefined, { token }: TreeRecord): Branch | undefined {
  return found && !found.current && found.tree === token ? found : undefined;
}

/** A name that no command takes for an option. */
function named(text: string, token: string): string {
  const name = text.replace(/^-+/, '');
  return isVisibleName(name) ? name : withToken(name, token);
}

function withToken(name: string, token: string): string {
  const kept = Array.from(name)
    .filter(isVisibleName)
    .slice(0, LONGEST_VISIBLE_NAME - 9);
  return `${kept.join('')}-${token.slice(0, 8)}`;
}

interface BranchOfTree {
  name: string;
  linked: LinkedTree;
  found: BranchPlan | null;
  token: string;
  /** Writes the record, without which no branch is created. */
  remember: () => Promise<void>;
}

async function createBranchOf(
  { context }: OpenedBranches,
  request: BranchesRequest,
  { name, linked: { tree }, found, token, remember }: BranchOfTree,
): Promise<string> {
  const inTree = { ...context, cwd: tree.folder };
  const planning = planBranchCreate(inTree, { target: request.target, tree: token, name }, found);
  const [planned, remembered] = await Promise.allSettled([planning, remember()]);
  if (remembered.status === 'rejected') throw remembered.reason;
  if (planned.status === 'rejected') throw planned.reason;
  await applyBranchCreate(inTree, planned.value);
  const [created] = planned.value.plan.branches;
  if (!created) throw planOutdated(`Branch "${name}" was created`);
  return created.database;
}

/** The lines of the main tree. Refuses another URL than that of the link: a checkout may have changed the file. */
async function readMainLines(link: Link, { tree }: LinkedTree): Promise<Lines> {
  const bytes = await readInTree(link.main, link.file);
  const { urlIn, linesOf } = formatOf(link.file);
  const text = bytes === null ? null : urlIn(bytes, link.key);
  const url = text === null ? null : parseUrl(text);
  if (bytes === null || url?.display !== link.url) {
    const now = url ? `is ${url.display}` : 'is missing';
    throw refused(`${link.key} of ${join(link.main, link.file)} ${now}, and the link is to ${link.url}`);
  }
  if (isFirstTree(tree, link)) throw refused('The main working tree keeps its own database');
  return linesOf(bytes, link.key);
}

async function hasUrlOf({ tree, link }: Pick<LinkedTree, 'tree' | 'link'>, { database }: Branch): Promise<boolean> {
  const [main, bytes] = await Promise.all([readInTree(link.main, link.file), readInTree(tree.folder, link.file)]);
  if (main === null || bytes === null) return false;
  const { linesOf, linesFor, withLines } = formatOf(link.file);
  return withLines(bytes, linesFor(linesOf(main, link.key), { key: link.key, database })) === bytes;
}

async function assertUntracked({ context }: OpenedBranches, tree: Tree, { file, main }: Link): Promise<void> {
  const folders = [tree.folder, main];
  const tracked = await Promise.all(folders.map((cwd) => isTracked({ ...context, cwd }, file)));
  const found = folders[tracked.indexOf(true)];
  if (found !== undefined) throw refused(`${join(found, file)} is tracked by git`);
}

import { relative } from 'node:path';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { LinkPlan, LinkResult } from '../../results/configuration/link-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { applyBranchHook, type PlannedBranchHook, planBranchHook } from '../branch/hook/hook.ts';
import { assertBranchesNotSources, type OpenedBranches, openBranches } from '../branch/open-branches.ts';
import { isTracked, noRepository, readCheckout, readHookFile, readMainFolder } from '../git.ts';
import { createAddressComparison } from '../load/guard/guard.ts';
import type { Planned } from '../planned.ts';
import { assertNames, formatOf, keysIn, LINK_FILES } from './formats.ts';
import { type Link, readLink, removeLink, writeLink } from './memory.ts';
import { readInTree, refused } from './tree-file.ts';
import { findTree, type Tree, treeOf } from './trees.ts';

export interface LinkRequest {
  target: string;
  /** The untracked file with the URL of the application, and its key; default: those that lead to the destination. */
  file?: string | undefined;
  key?: string | undefined;
  /** The value of `--config`. */
  config?: string | undefined;
}

export interface PlannedLink extends Planned<LinkRequest, LinkPlan> {
  link: Link;
  hook: PlannedBranchHook | null;
}

/** Plans how the working trees of the repository get databases of their own. Changes nothing. */
export async function planLink(given: Context, request: LinkRequest): Promise<PlannedLink> {
  const { target } = request;
  assertNames(request);
  const tree = await readMainTree(given);
  const present = await readLink(tree, given);
  if (present) throw refused(`The repository is linked to target "${present.target}": tool unlink`);
  const inMain = { ...given, cwd: tree.folder };
  const opened = await openBranches(inMain, { target });
  const { context, database } = opened;
  const unverified_sources = await assertBranchesNotSources(opened, target, []);
  const destination = await database.connect.inspect();
  const { file, key, url } = await findUrl(opened, tree, request);
  const hook = await planHook(context, tree, request);
  const link: Link = {
    ...{ format: 1, target, destination: database.url.display, main: tree.folder, file, key, url },
    hook: hook && { file: hook.plan.file, previous: hook.previous },
  };
  const plan: LinkPlan = {
    ...{ target, destination, folder: tree.folder, file, key, url, unverified_sources },
    hook: hook && { file: hook.plan.file, action: hook.plan.action, text: hook.plan.text },
    warnings: [
      // A branch of a tree needs no base copy: it is loaded with the first one.
      ...(hook?.plan.warnings ?? []).filter(({ code }) => code !== 'hook_destination_foreign'),
      ...(hook ? [] : [hookInTree(target, tree)]),
    ],
  };
  return { request, plan, planned_at: context.clock().toISOString(), link, hook };
}

export async function applyLink(context: Context, { plan, link, hook }: PlannedLink): Promise<LinkResult> {
  const tree = await readMainTree(context);
  await writeLink(tree, link, context);
  try {
    if (hook) await applyBranchHook({ ...context, cwd: tree.folder }, hook);
  } catch (error) {
    await removeLink(tree);
    throw error;
  }
  const { target, folder, file, key, hook: planned } = plan;
  return { target, folder, file, key, hook: planned?.file ?? null };
}

async function readMainTree(context: Context): Promise<Tree> {
  const checkout = await readCheckout(context);
  if (!checkout) throw await noRepository(context);
  const tree = await treeOf(context, checkout);
  if (tree?.isMain) return tree;
  const main = tree && (await readMainFolder(context));
  // A bare repository has no main tree: that of the link stands for it.
  if (tree && main === null) return tree;
  const found = main === null ? null : await findTree(main).catch(() => null);
  if (!tree || found?.common !== tree.common) {
    const why = 'has its git folder elsewhere (a submodule, or --separate-git-dir): it cannot be linked';
    throw refused(`${checkout.folder} ${why}`, 'Clone the repository by itself, and link that.');
  }
  throw refused(`${tree.folder} is not the main working tree`, `Run it there: ${shell`cd ${found.folder}`}`);
}

/** Finds the key of an untracked file that leads to the destination. */
async function findUrl({ context, database }: OpenedBranches, tree: Tree, { file, key }: LinkRequest) {
  const isDestination = createAddressComparison(context, database.url);
  const others: string[] = [];
  for (const each of file === undefined ? LINK_FILES : [file]) {
    const bytes = await readInTree(tree.folder, each).catch((error) => {
      // A project without Rails has no folder config/.
      if (file !== undefined || !each.includes('/')) throw error;
      return null;
    });
    if (bytes === null) continue;
    const { urlIn, linesOf, linesFor } = formatOf(each);
    for (const name of key === undefined ? keysIn(each) : [key]) {
      let text: string | null;
      try {
        text = urlIn(bytes, name);
      } catch (error) {
        if (file !== undefined || !(error instanceof UserError)) throw error;
        others.push(`${each}: ${error.message}`);
        break;
      }
      const url = text === null ? null : parseOrNote(text, (why) => others.push(`${name} of ${each}: ${why}`));
      if (!url) continue;
      others.push(`${name} of ${each} is ${url.display}`);
      if (!(await isDestination(url))) continue;
      if (await isTracked(context, each)) {
        others.push(`${each} is tracked by git`);
        break;
      }
      // Refuses what could not be rewritten for a tree.
      linesFor(linesOf(bytes, name), { key: name, database: `${database.url.database}_tree` });
      return { file: each, key: name, url: url.display };
    }
  }
  const found = others.length > 0 ? `: ${others.join('; ')}` : '';
  throw refused(`No untracked file leads to ${database.url.display}${found}`);
}

/** `null` for a value that is no URL of a database, which may be meant for another program. */
function parseOrNote(text: string, note: (why: string) => void): DatabaseUrl | null {
  try {
    return parseUrl(text);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    note(error.message);
    return null;
  }
}

/** `null` where git looks for the hook in the working tree: a new tree has no untracked hook. */
async function planHook(context: Context, tree: Tree, { target, config }: LinkRequest) {
  const file = await readHookFile(context, 'post-checkout');
  const isWithin = (folder: string): boolean => !relative(folder, file ?? '').startsWith('..');
  if (isWithin(tree.folder) && !isWithin(tree.common)) return null;
  return planBranchHook(context, { target, config, main_tree: tree.folder });
}

function hookInTree(target: string, { folder }: Tree): LinkPlan['warnings'][number] {
  const command = `${shell`cd ${folder}`} && ${shell`tool branch checkout ${target} --tree TREE`}`;
  const message = `core.hooksPath is in the working tree: no hook is written. Run for each new tree: ${command}`;
  return { code: 'hook_shared', message };
}

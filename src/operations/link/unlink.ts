import { join } from 'node:path';
import type { UnlinkPlan, UnlinkResult } from '../../results/link-results.ts';
import type { Context } from '../../runtime/context.ts';
import { noRepository } from '../branch/checkout/checkout.ts';
import { applyBranchHook, type PlannedBranchHook, planBranchHook } from '../branch/hook/hook.ts';
import type { Planned } from '../planned.ts';
import {
  keysOf,
  type PlannedFile,
  readInTree,
  refused,
  removeInTree,
  withoutLines,
  writeInTree,
} from './environment-file.ts';
import { forgetTree, type KnownTree, type Link, listTrees, readLink, removeLink } from './memory.ts';
import { readTree, type Tree } from './trees.ts';

export interface PlannedUnlink extends Planned<object, UnlinkPlan> {
  hook: PlannedBranchHook | null;
  files: (Omit<PlannedFile, 'after'> & { after: string | null; own: string })[];
}

/** Plans the removal of what `tool link` and its hook have written. The branches stay. Changes nothing. */
export async function planUnlink(context: Context, request: object): Promise<PlannedUnlink> {
  const { tree, link } = await readLinked(context);
  const { target, main } = link;
  const hook = link.hook && (await planBranchHook({ ...context, cwd: main }, removalOf(link, link.hook)));
  const trees = await listTrees(tree);
  const files: PlannedUnlink['files'] = [];
  for (const each of trees) files.push(...(await fileOf(link, each)));
  const plan: UnlinkPlan = {
    target,
    folder: main,
    hook: hook && { file: hook.plan.file, action: hook.plan.action, text: hook.plan.text },
    files: files.map(({ path }) => path),
    branches: trees.map(({ branch }) => branch),
  };
  return { request, plan, planned_at: context.clock().toISOString(), hook, files };
}

export async function applyUnlink(context: Context, { plan, hook, files }: PlannedUnlink): Promise<UnlinkResult> {
  const { tree, link } = await readLinked(context);
  if (hook) await applyBranchHook({ ...context, cwd: link.main }, hook);
  for (const { path, before, after, own } of files) {
    if (after === null) await removeInTree(path);
    else await writeInTree({ path, before, after });
    await forgetTree({ own });
  }
  await removeLink(tree);
  const { target, files: restored, branches } = plan;
  return { target, hook: plan.hook?.file ?? null, files: restored, branches };
}

function removalOf({ target }: Link, { previous }: NonNullable<Link['hook']>) {
  return { target, remove: true, ...(previous !== null && { restore: previous }) };
}

async function fileOf(
  { key }: Link,
  { present, own, file, before, unended }: KnownTree,
): Promise<PlannedUnlink['files']> {
  if (present === null) return [];
  const bytes = await readInTree(present, file);
  if (bytes === null) return [];
  const after = withoutLines(bytes, { before, unended, keys: keysOf(key) });
  return [{ path: join(present, file), before: bytes, after, own }];
}

async function readLinked(context: Context): Promise<{ tree: Tree; link: Link }> {
  const tree = await readTree(context);
  if (!tree) throw noRepository();
  const link = await readLink(tree);
  if (!link) throw refused('The repository is not linked');
  return { tree, link };
}

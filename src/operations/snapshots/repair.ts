import type { ManifestFile } from '../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../repository/objects/object-pool.ts';
import type { DamageVerdict, RemoteRepository } from '../../repository/remote-repository.ts';
import { fetchObject, sendObject } from '../../repository/transfer.ts';
import type { VerifyResult } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { localRepository } from './local-repository.ts';
import { locationsOf, openLocation } from './remote-repositories.ts';
import type { FoundSnapshot } from './snapshots.ts';

export interface RepairOptions {
  found: FoundSnapshot;
  /** The damaged objects are those of the bucket, and not those of this machine. */
  remote: boolean;
  damaged: ManifestFile[];
  pool: ObjectPool;
}

export interface RepairResult extends Pick<VerifyResult, 'lost'> {
  /** SHA-256 of the objects that are whole again. */
  repaired: Set<string>;
}

/** Replaces damaged objects by those of the other side, and names the snapshots that lack one still. Step: `repair`. */
export async function repair(context: Context, repairing: RepairOptions): Promise<RepairResult> {
  const { report } = context;
  const { found, remote, damaged } = repairing;
  const files = [...new Map(damaged.map((file) => [file.sha256, file])).values()];
  const what = `${files.length} damaged ${files.length === 1 ? 'object' : 'objects'}`;
  const step = {
    step: 'repair',
    label: `Repair ${what}`,
    done: ({ repaired }: RepairResult) => `Repaired ${repaired.size} of ${what}`,
  };
  return withStep(report, step, async () => {
    const repaired = remote
      ? await repairRemote(context, files, repairing)
      : await repairHere(context, files, repairing);
    const unrepaired = new Set(files.map(({ sha256 }) => sha256).filter((sha256) => !repaired.has(sha256)));
    const side = remote ? found.remote : localRepository(context);
    const losing = unrepaired.size > 0 ? await side?.naming(unrepaired) : [];
    const lost = (losing ?? []).map(({ target, id, created_at }) => ({ target, id, created_at }));
    return { repaired, lost };
  });
}

async function repairHere(
  context: Context,
  files: ManifestFile[],
  { found: { manifest, remote: own }, pool }: RepairOptions,
): Promise<Set<string>> {
  const { signal } = context;
  const repository = localRepository(context);
  await using staging = await repository.stage();
  const repaired = new Set<string>();
  for await (const remote of remotesOf(context, { own, target: manifest.target })) {
    const fetching = { manifest, repository, remote, pool, signal, unfinished: staging.path };
    for (const file of files.filter(({ sha256 }) => !repaired.has(sha256))) {
      const isFetched = fetchObject(file, fetching, () => {}).then(() => true);
      if (await isFetched.catch((error) => warnUnrepaired(context, error))) repaired.add(file.sha256);
    }
  }
  return repaired;
}

/** Verdicts of a hub on objects that it does not replace. */
const REASONS: Record<Exclude<DamageVerdict, 'damaged'>, string> = {
  intact: 'The hub found the object intact. Check the network of this machine, and verify again',
  checking: 'The hub still checks the object. Run the command again later',
  not_checked: 'The hub did not check the object. Run the command again in an hour, with permission to push',
};

async function repairRemote(
  context: Context,
  files: ManifestFile[],
  { found: { manifest, remote }, pool }: RepairOptions,
): Promise<Set<string>> {
  const { signal } = context;
  const repository = localRepository(context);
  const repaired = new Set<string>();
  if (!remote) return repaired;
  const reported = remote.reportDamage(
    manifest,
    files.map(({ sha256 }) => sha256),
    { wait: true },
  );
  const verdicts = await reported.catch((error) => {
    warnUnrepaired(context, error);
    return null;
  });
  if (verdicts === null) return repaired;
  await remote.whilePushing(async (renew) => {
    for (const file of files) {
      const verdict = verdicts.get(file.sha256) ?? 'not_checked';
      if (verdict !== 'damaged') {
        warnUnrepaired(context, new Error(`${file.name}: ${REASONS[verdict]}`));
        continue;
      }
      await renew();
      const isSent = pool
        .check(repository.object(file), () => {})
        .then(() => sendObject(file, { manifest, repository, remote, pool, signal }, () => {}))
        .then(() => true);
      if (await isSent.catch((error) => warnUnrepaired(context, error))) repaired.add(file.sha256);
    }
  });
  return repaired;
}

/** The remote repository of the snapshot first; equal content may be on another that the target has. */
async function* remotesOf(
  context: Context,
  { own, target }: { own: RemoteRepository | null; target: string },
): AsyncGenerator<RemoteRepository> {
  if (own) yield own;
  for (const location of locationsOf(context, target)) {
    try {
      const remote = await openLocation(context, location);
      if (remote.name !== own?.name) yield remote;
    } catch (error) {
      warnUnrepaired(context, error);
    }
  }
}

/** Warns and returns `false`: another location may have what this one lacks. */
function warnUnrepaired({ signal, report }: Context, error: unknown): false {
  signal.throwIfAborted();
  const { message, details } = toUserError(error);
  report({ event: 'warning', code: 'not_repaired', message: [message, ...details].join(': ') });
  return false;
}

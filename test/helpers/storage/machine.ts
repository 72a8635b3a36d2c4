import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { createLocalRepository, type LocalRepository } from '../../../src/repository/local-repository.ts';
import type { BucketProfile, StorageProfile } from '../../../src/repository/s3/providers.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { testContext } from '../postgres/postgres-server.ts';

/** A machine of somebody in the team: a working directory of its own, over a storage profile that all share. */
export interface Machine<Profile extends StorageProfile = BucketProfile> extends AsyncDisposable {
  directory: string;
  profile: Profile;
  context: Context;
  events: RunEvent[];
  repository: LocalRepository;
}

const TARGETS: Settings['targets'] = {
  app: { storage_profile: 'team', snapshot: {} },
  shared: { share: { storage_profile_name: 'team' } },
};

export interface MachineOptions<Profile extends StorageProfile> {
  profile: Profile;
  targets?: Settings['targets'];
  /** Of the configuration. */
  secretKey?: string;
  signal?: AbortSignal;
}

const SECRET_KEY = 'ab'.repeat(16);

export async function machine<Profile extends StorageProfile>({
  profile,
  targets = TARGETS,
  secretKey = SECRET_KEY,
  signal,
}: MachineOptions<Profile>): Promise<Machine<Profile>> {
  const directory = await mkdtemp(join(tmpdir(), 'tool-machine-'));
  const events: RunEvent[] = [];
  const settings = {
    secret_key: secretKey,
    working_directory: directory,
    storage_profiles: { team: profile },
    targets,
  };
  const context = testContext({ settings, events, ...(signal && { signal }) });
  return {
    directory,
    profile,
    context,
    events,
    repository: createLocalRepository({ directory, report: context.report }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

import { REFUSED } from '../../src/presentation/setup/checks.ts';
import { sourceOf } from '../../src/presentation/setup/source-url.ts';
import { lacksDatabase, type SetupFound } from '../../src/presentation/setup/step.ts';
import type { SetupStepId } from '../../src/presentation/setup/step-ids.ts';
import { KEYS } from '../../src/presentation/setup/storage-steps.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { RunContext } from '../../src/state/runs.ts';
import type { Operations } from '../app/operations.ts';
import { setUpOf, storageOf } from './answers.ts';
import type { SetupRoute } from './setup-route.ts';

export interface SetupCheckOptions {
  operations: Operations;
  session: RunContext;
  route: SetupRoute;
}

type Look = (looking: SetupCheckOptions) => Promise<Partial<SetupFound>>;

/** The check of each answer before the next question; throws for an invalid one. */
export const LOOKS: Partial<Record<SetupStepId, Look>> = {
  file: planned,
  target: planned,
  url: async (looking) => (lacksDatabase(looking.route) ? databases(looking) : source(looking)),
  host: async ({ route }) => refuseUnless(!/\s/.test(route.answers.host ?? ''), REFUSED.host),
  port: async ({ route }) => refuseUnless(isPort(route.answers.port), REFUSED.port),
  password: databases,
  database: source,
  async destination({ operations, session, route }) {
    const { destination = '' } = route.answers;
    if (destination === '') return { destination: null };
    return {
      destination: await operations.tryDestination(session, { source: sourceOf(route), destination }),
    };
  },
  sourceVariable: async ({ route }) => refuseUnless(isVariable(route.answers.sourceVariable), REFUSED.variable),
  destinationVariable: async ({ route }) =>
    refuseUnless(isVariable(route.answers.destinationVariable), REFUSED.variable),
  async storage({ operations, route }) {
    return route.answers.storage === 'none' ? { storage: null } : { cliProfiles: await operations.listCliProfiles() };
  },
  credentials: async (looking) => (looking.route.answers.credentials === KEYS ? {} : bucket(looking)),
  secretKey: bucket,
};

/** Plans the file early, so that an invalid file or target name is reported at once. */
export async function planned({ operations, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  return { plan: await operations.planSetUp(setUpOf(route)) };
}

async function databases({ operations, session, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  const found = await operations.listDatabases(session, sourceOf(route));
  if (found.length > 0) return { databases: found };
  throw new UserError('The server has no database that you may see', { code: 'database_missing' });
}

async function source({ operations, session, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  return { source: await operations.trySource(session, sourceOf(route)) };
}

async function bucket({ operations, session, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  const profile = storageOf(route);
  return { storage: profile && (await operations.tryStorage(session, profile)) };
}

function isPort(text = ''): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function isVariable(name = ''): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

function refuseUnless(isRight: boolean, message: string): Partial<SetupFound> {
  if (!isRight) throw new UserError(message, { code: 'invalid_value' });
  return {};
}

import { UserError } from '../../src/runtime/errors.ts';
import type { RunContext } from '../../src/state/runs.ts';
import type { Operations } from '../app/operations.ts';
import { setUpOf, storageOf } from './answers.ts';
import { REFUSED } from './checks-text.ts';
import type { SetupRoute } from './setup-route.ts';
import { sourceOf, withPrograms } from './source-url.ts';
import { lacksDatabase, type SetupFound, type SetupStepId } from './step.ts';
import { isProvider, KEYS } from './storage-steps-text.ts';

export interface SetupCheckOptions {
  operations: Operations;
  session: RunContext;
  route: SetupRoute;
}

/** The check of each answer before the next question; throws for an invalid one. */
export const ANSWER_CHECKS: Partial<Record<SetupStepId, (options: SetupCheckOptions) => Promise<Partial<SetupFound>>>> =
  {
    file: planned,
    target: planned,
    async url(options) {
      const { host, port } = options.route.form.parts;
      assertAnswer(!/\s|%20/.test(host), REFUSED.host);
      assertAnswer(port === '' || port.includes('{{') || isPort(port), REFUSED.port);
      return lacksDatabase(options.route) ? databases(options) : source(options);
    },
    database: source,
    async destination({ operations, session, route }) {
      const { destination = '' } = route.answers;
      if (destination === '') return { destination: null };
      return {
        destination: await operations.tryDestination(session, {
          source: sourceOf(route),
          destination: withPrograms(route, destination),
        }),
      };
    },
    sourceVariable: async ({ route }) => assertAnswer(isVariable(route.answers.sourceVariable), REFUSED.variable),
    destinationVariable: async ({ route }) =>
      assertAnswer(isVariable(route.answers.destinationVariable), REFUSED.variable),
    async storage({ operations, route }) {
      return isProvider(route.answers.storage)
        ? { cliProfiles: await operations.listCliProfiles() }
        : { storage: null };
    },
    async path(options) {
      assertAnswer(options.route.answers.path?.startsWith('/') ?? false, REFUSED.path);
      return bucket(options);
    },
    credentials: async (options) => (options.route.answers.credentials === KEYS ? {} : bucket(options)),
    secretKey: bucket,
  };

/** Plans the file early, so that an invalid file or target name is reported at once. */
export async function planned({ operations, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  return { plan: await operations.planSetUp(setUpOf(route)) };
}

async function databases({ operations, session, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  const found = await operations.listDatabases(session, sourceOf(route));
  if (found.length > 0) return { databases: found };
  throw new UserError('database_missing', 'The server has no database that you may see');
}

async function source({ operations, session, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  return { source: await operations.trySource(session, sourceOf(route)) };
}

async function bucket({ operations, session, route }: SetupCheckOptions): Promise<Partial<SetupFound>> {
  const profile = storageOf(route);
  return { storage: profile && (await operations.tryStorage(session, profile)) };
}

function isPort(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function isVariable(name = ''): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

function assertAnswer(isRight: boolean, message: string): Partial<SetupFound> {
  if (!isRight) throw new UserError('invalid_value', message);
  return {};
}

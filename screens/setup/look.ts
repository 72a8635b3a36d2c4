import { EXIT, UserError } from '../../src/errors.ts';
import type { Session } from '../../src/state/runs.ts';
import type { Operations } from '../app/operations.ts';
import { lacksDatabase, setUpOf, sourceOf, storageOf } from './answers.ts';
import type { SetupFound, SetupPlace } from './setup-place.ts';
import type { SetupStepId } from './step-ids.ts';
import { KEYS } from './storage-steps.ts';

export interface Looking {
  operations: Operations;
  session: Session;
  place: SetupPlace;
}

type Look = (looking: Looking) => Promise<Partial<SetupFound>>;

/** What there is to find out about an answer before the next question; what is wrong with it is thrown. */
export const LOOKS: Partial<Record<SetupStepId, Look>> = {
  file: planned,
  target: planned,
  url: async (looking) => (lacksDatabase(looking.place) ? databases(looking) : source(looking)),
  host: async ({ place }) =>
    refuseUnless(!/\s/.test(place.answers.host ?? ''), 'A name or address has no blanks in it'),
  port: async ({ place }) => refuseUnless(isPort(place.answers.port), 'A port is a number from 1 to 65535'),
  password: databases,
  database: source,
  async destination({ operations, session, place }) {
    const { destination = '' } = place.answers;
    if (destination === '') return { destination: null };
    return {
      destination: await operations.tryDestination(session, { source: sourceOf(place), destination }),
    };
  },
  sourceVariable: async ({ place }) => refuseUnless(isVariable(place.answers.sourceVariable), NO_VARIABLE),
  destinationVariable: async ({ place }) => refuseUnless(isVariable(place.answers.destinationVariable), NO_VARIABLE),
  async storage({ operations, place }) {
    return place.answers.storage === 'none' ? { storage: null } : { cliProfiles: await operations.listCliProfiles() };
  },
  credentials: async (looking) => (looking.place.answers.credentials === KEYS ? {} : bucket(looking)),
  secretKey: bucket,
};

/** The file is made as far as it is known, since the wrong name for it or in it is told at once. */
export async function planned({ operations, place }: Looking): Promise<Partial<SetupFound>> {
  return { plan: await operations.planSetUp(setUpOf(place)) };
}

async function databases({ operations, session, place }: Looking): Promise<Partial<SetupFound>> {
  const found = await operations.listDatabases(session, sourceOf(place));
  if (found.length > 0) return { databases: found };
  throw new UserError('The server has no database that you may see', {
    code: 'database_missing',
    exit: EXIT.unreachable,
  });
}

async function source({ operations, session, place }: Looking): Promise<Partial<SetupFound>> {
  return { source: await operations.trySource(session, sourceOf(place)) };
}

async function bucket({ operations, session, place }: Looking): Promise<Partial<SetupFound>> {
  const profile = storageOf(place);
  return { storage: profile && (await operations.tryStorage(session, profile)) };
}

function isPort(text = ''): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

const NO_VARIABLE = 'The name of a variable has letters, digits and _, and begins with no digit';

function isVariable(name = ''): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

function refuseUnless(isRight: boolean, message: string): Partial<SetupFound> {
  if (!isRight) throw new UserError(message, { code: 'invalid_value', exit: EXIT.usage });
  return {};
}

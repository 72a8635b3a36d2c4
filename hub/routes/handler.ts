import type { AnswerOf, BodyOf, ParametersOf, QueryOf, ROUTES, RouteName } from '../../src/cloud/contract/routes.ts';
import type { Caller } from '../access.ts';
import type { Condition } from '../database/condition.ts';
import type { TargetRow } from '../database/targets.ts';
import type { Hub } from '../hub.ts';

type AccessOf<Name extends RouteName> = (typeof ROUTES)[Name]['access'];

/** A request that passed all checks of its route. */
export interface HubRequest<Name extends RouteName> {
  parameters: ParametersOf<Name>;
  query: QueryOf<Name>;
  body: BodyOf<Name>;
  caller: AccessOf<Name> extends 'public' ? null : Caller;
  target: AccessOf<Name> extends { target: string }
    ? TargetRow
    : AccessOf<Name> extends 'create or change'
      ? TargetRow | null
      : null;
  condition: (typeof ROUTES)[Name] extends { conditional: true } ? Condition : null;
  /** Where the request comes from. */
  address: string | null;
  /** The client prefers this type. */
  acceptsCsv: boolean;
  /** As the client reaches the hub. */
  token: string | null;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
}

export interface Answer<Body> {
  status?: number;
  body: Body;
  /** The ETag of a resource. */
  revision?: number;
  /** Instead of JSON. */
  text?: { type: string; content: string };
}

export type Handler<Name extends RouteName> = (request: HubRequest<Name>, hub: Hub) => Promise<Answer<AnswerOf<Name>>>;

/** One for every route of the contract. */
export type Handlers = { [Name in RouteName]: Handler<Name> };

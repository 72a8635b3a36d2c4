import type { AnswerOf, BodyOf, ParametersOf, QueryOf, ROUTES, RouteName } from '../../src/cloud/contract/routes.ts';
import type { AuditEvent } from '../database/audit.ts';
import type { Condition } from '../database/condition.ts';
import type { TargetRow } from '../database/targets/targets.ts';
import type { Hub } from '../hub.ts';
import type { Caller } from '../permissions/access.ts';
import type { Permits } from '../permissions/permit.ts';

type AccessOf<Name extends RouteName> = (typeof ROUTES)[Name]['access'];

/** A request that passed all checks of its route. */
export interface HubRequest<Name extends RouteName> {
  parameters: ParametersOf<Name>;
  query: QueryOf<Name>;
  body: BodyOf<Name>;
  caller: AccessOf<Name> extends 'public' ? null : Caller;
  /** Looks again, while a request waits: the token may be revoked, or the groups of its user changed. */
  callerNow: () => Promise<HubRequest<Name>['caller']>;
  target: AccessOf<Name> extends { create: true }
    ? TargetRow | null
    : AccessOf<Name> extends { target: string }
      ? TargetRow
      : null;
  permit: AccessOf<Name> extends { target: string } ? Permits['permit'] : never;
  permitFound: AccessOf<Name> extends { create: true } ? Permits['permitFound'] : never;
  condition: (typeof ROUTES)[Name] extends { conditional: true } ? Condition : null;
  address: string | null;
  /** The author, the address and the target of the request, for the audit. */
  event: AccessOf<Name> extends 'public' ? null : Omit<AuditEvent, 'action'>;
  /** The client prefers this type. */
  acceptsCsv: boolean;
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

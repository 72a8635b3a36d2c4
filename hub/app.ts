import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import * as v from 'valibot';
import { BASE_PATH, ROUTES, type Route, type RouteName } from '../src/cloud/contract/routes.ts';
import type { Permission } from '../src/cloud/contract/schemas.ts';
import { type Caller, mayCreateTargets, permissionsOn } from './access.ts';
import { failed, type Seen, written } from './answer.ts';
import { recordEvent } from './database/audit.ts';
import { findTarget, type TargetRow } from './database/targets.ts';
import type { Hub } from './hub.ts';
import type { Metrics } from './metrics.ts';
import { mountPages } from './pages/pages.ts';
import { Problem } from './problem.ts';
import {
  addressOf,
  bodyOf,
  conditionOf,
  type HonoContext,
  parametersOf,
  parsed,
  queryOf,
  refuseBrowsers,
  refuseOldTools,
  refuseTooMany,
  tokenOf,
} from './request.ts';
import { administrationRoutes } from './routes/administration.ts';
import { buildRoutes } from './routes/builds.ts';
import type { Answer, Handlers } from './routes/handler.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { snapshotRoutes } from './routes/snapshots.ts';
import { storageProfileRoutes } from './routes/storage-profiles.ts';
import { targetRoutes } from './routes/targets.ts';

const HANDLERS: Handlers = {
  ...sessionRoutes,
  ...targetRoutes,
  ...snapshotRoutes,
  ...buildRoutes,
  ...storageProfileRoutes,
  ...administrationRoutes,
};

/** A handler as the pipeline calls it: what it is handed was parsed by the schemas of its route. */
type AnyHandler = (request: object, hub: Hub) => Promise<Answer<unknown>>;

export interface AppOptions {
  hub: Hub;
  metrics: Metrics;
  /** Whether new requests are welcome: not while the instance ends. */
  isReady: () => Promise<boolean>;
  /** Of a trial: signs in to the pages once. */
  trialCode: string | null;
}

/** The API of the hub, and `/healthz` and `/readyz`. */
export function createApp({ hub, metrics, isReady, trialCode }: AppOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) =>
    (await isReady()) ? context.text('ready\n') : context.text('not ready\n', 503),
  );
  mountPages(app, { hub, metrics, trialCode });
  const paths = new Set<string>();
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    const path = `${BASE_PATH}${route.path.replace(/\{(\w+)\}/g, ':$1')}`;
    // Clients write the root either way.
    const spellings = route.path === '/' ? [BASE_PATH, path] : [path];
    for (const spelling of spellings) paths.add(spelling);
    app.on(route.method, spellings, (context) => respond(context, { name: name as RouteName, route, hub, metrics }));
  }
  for (const path of paths) {
    app.all(path, () => failed(new Problem('cloud_method', 'The resource has no such method'), hub));
  }
  app.notFound(() => failed(new Problem('cloud_unknown', 'There is no such resource'), hub));
  app.onError((error) => failed(error, hub));
  return app;
}

interface Responding {
  name: RouteName;
  route: Route;
  hub: Hub;
  metrics: Metrics;
}

async function respond(context: HonoContext, { name, route, hub, metrics }: Responding): Promise<Response> {
  const started = performance.now();
  const seen: Seen = { caller: null, requestId: randomUUID() };
  const response = await answer(context, { name, route, hub, seen }).catch((error: unknown) =>
    failed(error, hub, seen),
  );
  const milliseconds = Math.round(performance.now() - started);
  metrics.observe({ route: name, status: response.status, seconds: milliseconds / 1000 });
  hub.log.info('request', {
    request_id: seen.requestId,
    route: name,
    status: response.status,
    ms: milliseconds,
    caller: seen.caller?.id,
    address: addressOf(context, hub),
  });
  return response;
}

interface Answering {
  name: RouteName;
  route: Route;
  hub: Hub;
  seen: Seen;
}

async function answer(context: HonoContext, { name, route, hub, seen }: Answering): Promise<Response> {
  refuseBrowsers(context);
  refuseOldTools(context);
  const token = tokenOf(context);
  if (token !== null) refuseTooMany(token, hub);
  const caller = route.access === 'public' ? null : await callerOf(token, hub);
  seen.caller = caller;
  const parameters = parametersOf(context);
  const address = addressOf(context, hub);
  const target = caller ? await permitted({ route, caller, parameters, hub, address }) : null;
  const query = parsed(route.query ?? v.strictObject({}), queryOf(context), '/query');
  const body = await bodyOf(context, route);
  const condition = route.conditional ? conditionOf(context) : null;
  const acceptsCsv = context.req.header('accept')?.startsWith('text/csv') ?? false;
  const request = {
    parameters,
    query,
    body,
    caller,
    target,
    condition,
    address,
    acceptsCsv,
    signal: context.req.raw.signal,
  };
  const given = await (HANDLERS[name] as unknown as AnyHandler)(request, hub);
  return written(context, { given, route, requestId: seen.requestId });
}

async function callerOf(token: string | null, { callers }: Hub): Promise<Caller> {
  const caller = token === null ? null : await callers.find(token);
  if (caller) return caller;
  throw new Problem('cloud_token_refused', 'The token is missing, unknown, expired or revoked', {
    hint: 'Sign in: tool auth login',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

interface Permitting {
  route: Route;
  caller: Caller;
  parameters: Record<string, string>;
  hub: Hub;
  address: string | null;
}

/** Refuses callers without permission for the route, with an audit event. Returns the route's target, if any. */
async function permitted({ route, caller, parameters, hub, address }: Permitting): Promise<TargetRow | null> {
  const { access } = route;
  const refuse = async (detail: string, hint: string): Promise<never> => {
    const refused = { actor: caller.name, action: `${route.method} ${route.path}`, outcome: 'refused' } as const;
    await recordEvent(hub.db, { ...refused, target: parameters.name ?? null, address });
    throw new Problem('not_permitted', detail, { hint });
  };
  const { ownerGroups, memberGroups, auditorGroups } = hub.settings;
  if (access === 'owner') {
    return caller.role === 'owner' ? null : await refuse('Only owners of the hub may do this', groupsHint(ownerGroups));
  }
  if (access === 'auditor') {
    if (caller.role === 'owner' || caller.auditor) return null;
    return await refuse('Only owners and auditors may read the audit', groupsHint([...ownerGroups, ...auditorGroups]));
  }
  if (access === 'public' || access === 'signed in') return null;
  const name = parameters.name ?? '';
  const target = await findTarget(hub.db, name);
  const permissions: Permission[] = target ? permissionsOn(target, caller) : [];
  if (access === 'create or change') {
    if (target && permissions.length > 0) {
      if (permissions.includes('change')) return target;
    } else if (mayCreateTargets(caller)) return target;
    return await refuse(`You may not change target "${name}"`, groupsHint([...ownerGroups, ...memberGroups]));
  }
  if (!target || !permissions.includes('read')) {
    throw new Problem('target_unknown', `There is no target "${name}", or it is not shared with you`);
  }
  if (permissions.includes(access.target)) return target;
  const groups = target.builder_groups.length > 0 ? target.builder_groups : memberGroups;
  return await refuse(`You may not do this with target "${name}"`, groupsHint([...ownerGroups, ...groups]));
}

/** Which groups would permit it. */
function groupsHint(groups: string[]): string {
  const named = [...new Set(groups)];
  return named.length === 0 ? 'No group permits it.' : `It needs one of the groups: ${named.join(', ')}.`;
}

import type { DatabaseUrl } from './database-url.ts';
import type { Engine } from './engine.ts';
import type { EngineContext } from './engine-context.ts';

export type Around = <Result>(call: Call, work: (context: EngineContext) => Promise<Result>) => Promise<Result>;

export interface Call {
  context: EngineContext;
  url: DatabaseUrl;
  name: string;
}

const CALLS: {
  [Facet in Exclude<keyof Engine, 'id' | 'capabilities'>]: Extract<keyof NonNullable<Engine[Facet]>, string>[];
} = {
  connect: [
    'probe',
    'listDatabases',
    'listSchemas',
    'listTables',
    'addressesOf',
    'identifyAffected',
    'isSuperuser',
    'inspect',
    'countRows',
    'readSmallTables',
  ],
  dump: ['run'],
  restore: [
    'readNeeds',
    'plan',
    'chooseRestorer',
    'run',
    'checkScript',
    'runScript',
    'findKept',
    'undo',
    'planReset',
    'reset',
    'findCopies',
    'findAllCopies',
    'dropCopies',
  ],
  sanitize: ['readColumns', 'digestColumns', 'runQuery', 'removeTraces', 'suggestQuery', 'tryReplacements'],
  subset: ['openSource', 'checkDestination'],
  branches: ['plan', 'list', 'create', 'reset', 'drop', 'switchTo'],
};

type EngineCall = (context: EngineContext, request: Request, ...rest: unknown[]) => Promise<unknown>;
type Request = DatabaseUrl | { url: DatabaseUrl } | { urls: DatabaseUrl[] };

export function wrapEngine(engine: Engine, around: Around): Engine {
  const wrapped = { ...engine } as unknown as Record<string, Record<string, EngineCall>>;
  for (const [facet, names] of Object.entries(CALLS)) {
    if (!wrapped[facet]) continue;
    const calls = { ...wrapped[facet] };
    for (const name of names) {
      const call = calls[name];
      if (call) calls[name] = wrapCall(name, call, around);
    }
    wrapped[facet] = calls;
  }
  return wrapped as unknown as Engine;
}

function wrapCall(name: string, call: EngineCall, around: Around): EngineCall {
  return async (context, request, ...rest) => {
    const url = urlOf(request);
    if (!url) return;
    return around({ context, url, name }, (placed) => call(placed, request, ...rest));
  };
}

function urlOf(request: Request): DatabaseUrl | undefined {
  if ('urls' in request) return request.urls[0];
  return 'url' in request ? request.url : request;
}

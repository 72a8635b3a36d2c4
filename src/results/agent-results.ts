import * as v from 'valibot';
import { EXIT } from '../runtime/errors.ts';
import { describe, orNull, text } from './fields.ts';

const agentBuild = v.object({
  target: text,
  build: describe(text, 'Id of the build on the hub.'),
  outcome: v.picklist(['done', 'failed']),
  exit: describe(v.picklist(Object.values(EXIT)), 'Exit code that `tool build` would have ended with.'),
  snapshot: describe(orNull(text), 'Id of the published snapshot.'),
  code: describe(orNull(text), 'Code of the error.'),
});

export type AgentBuild = v.InferOutput<typeof agentBuild>;

export const agentResult = v.object({ pool: text, builds: v.array(agentBuild) });

export type AgentResult = v.InferOutput<typeof agentResult>;

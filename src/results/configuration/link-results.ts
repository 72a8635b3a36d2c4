import * as v from 'valibot';
import { branchHookResult } from '../branch-results.ts';
import { describe, orNull, text, texts, warnings } from '../fields.ts';
import { destinationState } from '../load-results.ts';

const hook = describe(
  orNull(v.object({ file: text, action: branchHookResult.entries.action, text })),
  'The git hook; `null` where git looks for it in the working tree.',
);
const place = {
  file: describe(text, 'Path in a working tree.'),
  key: describe(text, 'Its variable with the URL of the application.'),
};

export const linkPlan = v.object({
  target: text,
  destination: destinationState,
  folder: describe(text, 'Top folder of the main working tree.'),
  ...place,
  url: describe(text, 'URL of the application there, without password.'),
  hook,
  unverified_sources: texts,
  warnings,
});
export type LinkPlan = v.InferOutput<typeof linkPlan>;

export const linkResult = v.object({
  target: text,
  folder: text,
  ...place,
  hook: describe(orNull(text), 'Path of the git hook.'),
});
export type LinkResult = v.InferOutput<typeof linkResult>;

const written = {
  files: describe(texts, 'Files of working trees that get their former lines.'),
  branches: describe(texts, 'Branches of the working trees, which stay.'),
};

export const unlinkPlan = v.object({ target: text, folder: text, hook, ...written, warnings });
export type UnlinkPlan = v.InferOutput<typeof unlinkPlan>;

export const unlinkResult = v.object({ target: text, hook: orNull(text), ...written });
export type UnlinkResult = v.InferOutput<typeof unlinkResult>;

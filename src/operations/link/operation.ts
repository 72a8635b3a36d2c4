import type { LinkResult, UnlinkResult } from '../../results/configuration/link-results.ts';
import { defineOperation } from '../operation.ts';
import type { LinkRequest, PlannedLink } from './link.ts';
import { linkQuestion, linkSummary, unlinkQuestion, unlinkSummary } from './text.ts';
import type { PlannedUnlink } from './unlink.ts';

export const linkOperation = defineOperation<LinkRequest, PlannedLink, LinkResult>({
  id: 'link',
  kind: 'branch',
  work: async () => {
    const { applyLink, planLink } = await import('./link.ts');
    return { plan: planLink, apply: applyLink };
  },
  question: linkQuestion,
  summary: linkSummary,
});

export const unlinkOperation = defineOperation<object, PlannedUnlink, UnlinkResult>({
  id: 'unlink',
  kind: 'branch',
  work: async () => {
    const { applyUnlink, planUnlink } = await import('./unlink.ts');
    return { plan: planUnlink, apply: applyUnlink };
  },
  question: unlinkQuestion,
  summary: unlinkSummary,
});

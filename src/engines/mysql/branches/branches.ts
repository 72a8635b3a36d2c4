import type { BranchFacet } from '../../facets/branch.ts';
import { urlWithPassword, withDatabase } from '../connection/url.ts';
import { NAME_LIMIT } from '../server/names.ts';
import { createBranch } from './create.ts';
import { dropBranch } from './drop.ts';
import { listBranches } from './list.ts';
import { planBranches } from './plan.ts';
import { resetBranch } from './reset-branch.ts';
import { switchTo } from './switch.ts';

export const branches: BranchFacet = {
  nameLimit: { most: NAME_LIMIT, lengthOf: ({ length }) => length },
  copiedBy: 'rows',
  urlOf: withDatabase,
  urlWithPassword,
  plan: planBranches,
  list: listBranches,
  create: createBranch,
  reset: resetBranch,
  drop: dropBranch,
  switchTo,
};

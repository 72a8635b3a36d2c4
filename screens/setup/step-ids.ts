/** The questions of the wizard, by what they ask for. */
export type SetupStepId =
  | 'file'
  | 'target'
  | 'how'
  | 'url'
  | 'engine'
  | 'host'
  | 'port'
  | 'user'
  | 'password'
  | 'database'
  | 'schemas'
  | 'destination'
  | 'keep'
  | 'sourceVariable'
  | 'destinationVariable'
  | 'storage'
  | 'bucket'
  | 'region'
  | 'endpoint'
  | 'account'
  | 'prefix'
  | 'credentials'
  | 'accessKey'
  | 'secretKey'
  | 'review'
  | 'done';

/** What has been typed or chosen so far. */
export type SetupAnswers = Partial<Record<SetupStepId, string>>;

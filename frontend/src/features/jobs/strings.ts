/** Texts of the job page. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  queued: 'Queued',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  simulation: 'Simulation report',
  tailStudy: 'Tail study',
  jobsLower: 'jobs',
  noJobs: 'No jobs yet',
  noJobsLead:
    'Requests that take longer than a page can wait, such as a search for better placements or a download of many days, appear here.',
  jobsLead: 'Long-running work: progress and results of the newest 100 jobs.',
  job: 'Job',
  result: 'Result',
  stopping: ', stopping',
  progressOf: (title: string) => `Progress of ${title}`,
}

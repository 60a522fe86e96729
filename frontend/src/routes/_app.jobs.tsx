import { createFileRoute } from '@tanstack/react-router'
import { JobsPage } from '~/features/jobs/JobsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/jobs')({
  staticData: { title: strings.jobs, help: 'api/README#jobs' },
  component: JobsPage,
})

import { createFileRoute } from '@tanstack/react-router'
import { BucketExportsPage } from '~/features/bucket-exports/BucketExportsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/bucket-exports')({
  staticData: { title: strings.bucketExports, help: 'operations' },
  component: BucketExportsPage,
})

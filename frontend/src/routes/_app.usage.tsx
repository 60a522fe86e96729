import { createFileRoute } from '@tanstack/react-router'
import { UsagePage } from '~/features/settings/UsagePage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/usage')({
  staticData: { title: strings.usage, help: 'operations' },
  component: UsagePage,
})

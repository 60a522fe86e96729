import { createFileRoute } from '@tanstack/react-router'
import { ApiKeysPage } from '~/features/settings/ApiKeysPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/api-keys')({
  staticData: { title: strings.apiKeys, help: 'api/README#signing-in' },
  component: ApiKeysPage,
})

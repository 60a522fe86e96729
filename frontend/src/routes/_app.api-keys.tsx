import { createFileRoute } from '@tanstack/react-router'
import { ApiKeysPage } from '~/features/settings/ApiKeysPage'

export const Route = createFileRoute('/_app/api-keys')({ component: ApiKeysPage })

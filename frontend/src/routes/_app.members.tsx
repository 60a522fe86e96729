import { createFileRoute } from '@tanstack/react-router'
import { MembersPage } from '~/features/members/MembersPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/members')({
  staticData: { title: strings.members, help: 'security#roles-and-members' },
  component: MembersPage,
})

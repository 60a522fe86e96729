# The agent alone: its static binary and nothing else. After `make packages`:
#   docker build -f infra/docker/agent.Dockerfile -t sinemora-agent agent/target/stage
FROM scratch
COPY sinemora-agent /sinemora-agent
# No authorities come with it: Mozilla's are compiled in; SINEMORA_AGENT_CA_FILE names others that are mounted.
VOLUME /var/lib/sinemora-agent
ENTRYPOINT ["/sinemora-agent"]
CMD ["run"]

# The programs of a VM: static binaries and nothing else. The agent runs; for artifacts and the bulk sender run a second
# container with --entrypoint /sinemora-transfer and the same volume. After `make packages`:
#   docker build -f infra/docker/agent.Dockerfile -t sinemora-agent agent/target/stage
FROM scratch
LABEL org.opencontainers.image.licenses=Apache-2.0
COPY sinemora-agent sinemora-transfer sinemora-guard /
# No authorities come with it: Mozilla's are compiled in; SINEMORA_AGENT_CA_FILE names others that are mounted.
VOLUME /var/lib/sinemora-agent
ENTRYPOINT ["/sinemora-agent"]
CMD ["run"]

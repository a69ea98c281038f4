# Dockerfile: the image from sources alone, where there is no Debian 12 to build on: docker build -t herd-controller .
#
# On Debian 12 `make docker-build` makes the same files with no container. Pin the base for a release:
#   --build-arg DEBIAN=debian:bookworm-slim@sha256:...
ARG DEBIAN=debian:bookworm-slim
FROM ${DEBIAN} AS build
RUN apt-get update && apt-get install -y --no-install-recommends make git ca-certificates
WORKDIR /src
COPY . .
RUN git config --global --add safe.directory /src && make image

FROM scratch
COPY --from=build /src/build/image/rootfs/ /
USER 65532:65532
ENV PATH=/usr/bin HOME=/root
EXPOSE 8080 8081 8443
ENTRYPOINT ["/usr/bin/herd-controller"]

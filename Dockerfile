# SPDX-License-Identifier: Apache-2.0
# Dockerfile: the image from sources alone, where there is no Debian 12 to build on: docker build -t herd-controller .
#
# On Debian 12 `make docker-build` makes the same files with no container. Nothing of the base is in the image but the
# libraries that apt installs into it, each checked against its package. The base is Debian's of 2026-08-03, all
# architectures, by the list of docker-library/repo-info; another one: --build-arg DEBIAN=debian:bookworm-slim@sha256:...
ARG DEBIAN=debian:bookworm-slim@sha256:abd67ffcfa541b485a3dff59865ab629aa048a6c613e639d36e7456b0b229241
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

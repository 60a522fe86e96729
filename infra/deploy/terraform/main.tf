# Virtual machines with the agent on AWS, and the security group through which they measure one another. Copy it into a
# configuration and give the variables their values. Any other cloud takes the same user data.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "backend" {
  description = "URL of the backend"
  type        = string
}

variable "enrolment_token" {
  description = "Enrolment token with at least as many uses as there are machines"
  type        = string
  sensitive   = true
}

variable "vpc_id" {
  description = "VPC of the machines"
  type        = string
}

variable "subnet_ids" {
  description = "Subnets of the machines, one machine in each"
  type        = list(string)
}

variable "ami" {
  description = "Image of a Linux with cloud-init"
  type        = string
}

variable "instance_type" {
  description = "Type of the machines"
  type        = string
  default     = "c7g.large"
}

resource "aws_security_group" "sinemora" {
  name        = "sinemora-agents"
  description = "PTP between the machines that Sinemora measures"
  vpc_id      = var.vpc_id

  ingress {
    description = "PTP event and general messages"
    protocol    = "udp"
    from_port   = 319
    to_port     = 320
    self        = true
  }

  egress {
    description = "PTP, the backend and the metadata service"
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_instance" "measured" {
  for_each               = toset(var.subnet_ids)
  ami                    = var.ami
  instance_type          = var.instance_type
  subnet_id              = each.value
  vpc_security_group_ids = [aws_security_group.sinemora.id]

  user_data = replace(replace(
    file("${path.module}/../cloud-init/user-data.yaml"),
    "sme_CHANGE", var.enrolment_token),
    "https://sinemora.example", var.backend)

  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 2
  }
}
